import io
import sys
import time

import pytest

from prssm.training.progress_lines import ProgressLines, told_seconds
from prssm.training.session import ProgressBar, Silent, shown


def test_a_line_every_ten_seconds_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = ProgressLines(clock=lambda: now[0])
    lines.start(400, 100, "training")
    for done in range(101, 401):
        now[0] += 0.25
        lines.update(done, {"ELBO": -1.5})
    lines.stop()
    told = capsys.readouterr().err.splitlines()
    # a step takes a quarter of a second: 40 steps after the first 100 in ten seconds
    assert told[0] == "prssm: training: 140 of 400, ELBO -1.5, about 65 s left"
    assert told[1] == "prssm: training: 180 of 400, ELBO -1.5, about 55 s left"
    assert len(told) == 7


def test_no_time_is_left_after_the_end_of_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = ProgressLines(clock=lambda: now[0], deadline=25.0)
    lines.start(400, 0, "training")
    for done in range(1, 4):
        now[0] += 10.0
        lines.update(done, {})
    told = capsys.readouterr().err.splitlines()
    ends = [line.rpartition(", ")[2] for line in told]
    assert ends == ["about 15 s left", "about 5 s left", "its time is over and it ends soon"]


def test_a_bar_tells_the_time_left_of_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = shown(time.monotonic() + 1000.0)
    bar.start(10**9, 0, "training")
    time.sleep(0.01)
    bar.update(1, {})
    bar.stop()
    assert "17 min left" in sys.stderr.getvalue()


def test_a_phase_that_is_over_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = ProgressLines(clock=lambda: now[0])
    lines.start(1, 0, "linear models")
    now[0] = 20.0
    lines.update(1, {})
    assert capsys.readouterr().err == ""


def test_a_quick_fit_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    lines.start(10, 0, "training")
    lines.update(10, {})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "words"), [(40, "40 s"), (300, "5 min"), (9000, "2.5 h")])
def test_times_as_people_say_them(seconds, words) -> None:
    assert told_seconds(seconds) == words


def test_a_bar_belongs_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(shown(), ProgressLines)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(shown(), ProgressBar)
    assert not isinstance(Silent(), ProgressLines)
