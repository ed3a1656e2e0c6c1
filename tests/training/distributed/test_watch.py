"""A process that hangs is noticed, and the run is saved before anything ends."""

import threading

import pytest

from prssm.training.distributed import store, watch


class Ended(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The store as process 0 of two sees it, at a hundred times the pace; the end of the process is
    an exception.
    """
    found: dict[str, str] = {}
    monkeypatch.setattr(store, "count", lambda: 2)
    monkeypatch.setattr(store, "put", found.__setitem__)
    monkeypatch.setattr(store, "get", lambda key, wait_seconds=0.0: found.get(key))
    monkeypatch.setattr(watch, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(watch, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(watch, "_over", threading.Event())
    monkeypatch.setattr(watch, "_ending", threading.Lock())

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(watch.os, "_exit", end)
    return found


def test_silence_saves_the_run_and_ends_it(texts, capsys):
    with watch.rescued_by(lambda words: f"{words}; saved"), pytest.raises(Ended, match="2"):
        watch._watch()
    assert (
        capsys.readouterr().err == "prssm: process 1 was lost: no sign of life for 0.2 s; saved\n"
    )
    assert int(texts["alive/0"]) >= 10
    assert texts["ended/0"].endswith("saved")


def test_last_words_of_another_end_the_run_at_once(texts, capsys):
    texts["ended/1"] = "no such file"
    with pytest.raises(Ended):
        watch._watch()
    assert capsys.readouterr().err == "prssm: process 1 ended: no such file\n"
    assert texts["alive/0"] == "1"


def test_signs_of_life_keep_the_run_going(texts):
    def live() -> None:
        for beat in range(40):
            texts["alive/1"] = str(beat)
            watch._over.wait(0.01)
        watch.stop()

    other = threading.Thread(target=live)
    other.start()
    watch._watch()
    other.join()
    assert "ended/0" not in texts


def test_a_process_that_works_alone_is_not_ended_here():
    watch.leave("an ordinary error", 2)


@pytest.fixture
def ended(texts, monkeypatch) -> threading.Event:
    """Set when the process ends; here its thread waits for ever."""
    found = threading.Event()

    def end(code: int) -> None:
        found.set()
        threading.Event().wait()

    monkeypatch.setattr(watch.os, "_exit", end)
    return found


def test_who_waits_for_others_too_long_ends_with_a_line(ended, capsys):
    with watch.ended_after(0.05, "nobody came"):
        assert ended.wait(10.0)
    assert "prssm: nobody came" in capsys.readouterr().err


def test_who_is_joined_in_time_goes_on(ended):
    with watch.ended_after(0.2, "nobody came"):
        pass
    assert not ended.wait(0.4)


def test_the_loss_of_process_0_ends_the_others_with_one_line(texts, capsys):
    with watch.rescued_by(lambda words: f"{words}; saved"), pytest.raises(Ended, match="2"):
        watch.leader_lost()
    assert capsys.readouterr().err == (
        "prssm: process 0 was lost: its connection has ended; saved\n"
    )
    assert "ended/0" not in texts  # the store was process 0's


def test_process_0_may_go_when_the_work_is_done(texts):
    watch.stop()
    watch.leader_lost()
