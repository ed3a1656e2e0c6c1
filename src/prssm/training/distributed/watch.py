"""The processes of a run watch each other, so that a loss is noticed while the run can be saved.

A killed process breaks its connections, and the computation with it ends in an error at once. One
that hangs, that a network no longer reaches or that leaves for a reason of its own would let the
others wait until JAX ends them. So every process gives signs of life and looks for last words, and
process 0 for signs of life. Of process 0 itself the others hear through a relay (`relay.py`).
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from prssm.training.distributed import store

BEAT_SECONDS = 1.0
SILENCE_SECONDS = 40.0  # less than JAX's own patience, processes.HEARTBEAT_SECONDS
LOST = 2  # exit code

Rescue = Callable[[str], str]
_rescues: list[Rescue] = []  # what to do with the run that is going on, if one is
_ending = threading.Lock()  # taken once, by whoever ends this process
_over = threading.Event()


def start() -> None:
    """From joining on, until the common work is done."""
    _over.clear()
    threading.Thread(target=_watch, daemon=True).start()


def stop() -> None:
    _over.set()


@contextmanager
def rescued_by(rescue: Rescue) -> Iterator[None]:
    """While inside, a loss leads to `rescue`.

    It saves the run and gives the line with which the process ends.
    """
    _rescues.append(rescue)
    try:
        yield
    finally:
        _rescues.remove(rescue)


def rescued(line: str) -> str:
    """Save the run that is going on, if one is; gives the line with which the process ends."""
    return _rescues[-1](line) if _rescues else line


@contextmanager
def ended_after(seconds: float, line: str) -> Iterator[None]:
    """Who is still inside after so long ends with this line; JAX itself would crash."""
    timer = threading.Timer(seconds, lambda: _end(line, LOST, tell=False))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def leader_lost() -> None:
    """Process 0, which holds the store, has gone while the work was not done."""
    if not _over.is_set():
        _end(rescued("process 0 was lost: its connection has ended"), LOST, tell=False)


def leave(line: str, code: int) -> None:
    """End a process that cannot go on, with one line for the user and the other processes.

    Does nothing where the process works alone.
    """
    if store.count() > 1:
        _end(line, code)


def _watch() -> None:
    beat = 0
    begun = time.monotonic()
    others = range(1, store.count()) if store.leads() else ()
    seen: dict[int, tuple[str | None, float]] = {process: (None, begun) for process in others}
    while not _over.wait(BEAT_SECONDS):
        beat += 1
        try:
            store.put(f"alive/{store.own_index()}", str(beat))
            words = store.last_words() or _silence(seen)
        except store.GONE:
            return  # process 0 is gone, and the computation with it ends by itself
        if words and not _over.is_set():
            _end(rescued(words), LOST)


def _silence(seen: dict[int, tuple[str | None, float]]) -> str | None:
    """Notes the latest signs of life; says so where one is overdue."""
    for process, (last, since) in seen.items():
        sign = store.get(f"alive/{process}")
        if sign != last:
            seen[process] = (sign, time.monotonic())
        elif time.monotonic() - since > SILENCE_SECONDS:
            return f"process {process} was lost: no sign of life for {SILENCE_SECONDS:g} s"
    return None


def _end(line: str, code: int, *, tell: bool = True) -> NoReturn:
    """At once: an orderly exit would wait for processes that no longer answer.

    `tell` the others, where the store still is.
    """
    if not _ending.acquire(blocking=False):
        threading.Event().wait()  # another thread is ending this process
    print(f"prssm: {' '.join(line.split())}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    if not tell:
        os._exit(code)
    try:
        store.say_last_words(line)
        if store.leads():  # who holds the store lets the others read it first
            _wait_for_the_others()
    except store.GONE:
        pass  # nobody is left to read it
    os._exit(code)


def _wait_for_the_others() -> None:
    deadline = time.monotonic() + 2.5 * BEAT_SECONDS
    waiting = set(range(1, store.count()))
    while waiting and time.monotonic() < deadline:
        waiting -= {process for process in waiting if store.get(f"ended/{process}") is not None}
        time.sleep(0.1)
