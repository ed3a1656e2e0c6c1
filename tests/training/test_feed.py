"""Chunks come in order, one is read ahead, and the time spent waiting is counted."""

import threading
import time

from prssm.training.feed import Feed


def test_gives_what_was_drawn_and_reads_one_chunk_ahead():
    drawn = []

    def draw(key, first):
        drawn.append((key, first))
        return f"{key} {first}"

    feed = Feed(draw, 10)
    key = "a"
    assert [feed.chunk(key, first).chunk for first in (0, 10, 20)] == ["a 0", "a 10", "a 20"]
    assert feed.chunk("b", 0).chunk == "b 0"  # another key: what was read ahead is of no use
    assert feed.chunk("b", 50).chunk == "b 50"  # nor is it where iterations are skipped
    feed.close()
    assert [first for key, first in drawn if key == "a"] == [0, 10, 20, 30]


def test_waiting_is_what_reading_takes_beyond_computing():
    pause = threading.Event()
    feed = Feed(lambda key, first: pause.wait(0.2), 1)
    key = "a"
    feed.chunk(key, 0)
    first = feed.waited
    assert first >= 0.19
    time.sleep(0.4)  # the device computes for longer than reading takes
    feed.chunk(key, 1)
    assert feed.waited - first < 0.1
    feed.close()
