"""The loop around every training: nothing is lost, a full disk included."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prssm.foundation import atomic, storage
from prssm.foundation.errors import ModelFileError, PrssmWarning, TrainingInterrupted
from prssm.training import checkpoint
from prssm.training.distributed.watch import rescued
from prssm.training.loop import resumable, run_to_end
from prssm.training.session import Session, Silent

TOTAL = 4
BEGIN = {"iteration": np.asarray(0), "x": np.zeros(2)}


def advance(state: dict[str, Any]) -> dict[str, Any]:
    return {"iteration": state["iteration"] + 1, "x": state["x"] + 1.0}


class Watcher(Silent):
    """Notes under which names training was shown."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def start(self, total: int, done: int, label: str) -> None:
        self.labels.append(label)


def test_a_phase_of_training_is_shown_under_its_name():
    watcher = Watcher()
    for session in (Session(watcher), Session(watcher, label="growing, stage 1")):
        run_to_end(
            BEGIN,
            advance,
            lambda state: int(state["iteration"]) == TOTAL,
            figures=lambda state: {},
            total=TOTAL,
            session=session,
            fingerprint="same",
        )
    assert watcher.labels == ["training", "growing, stage 1"]


def run(path: Path, step: Any = advance, **how: Any) -> dict[str, Any]:
    return run_to_end(
        BEGIN,
        step,
        lambda state: int(state["iteration"]) == TOTAL,
        figures=lambda state: {},
        total=TOTAL,
        session=Session(Silent(), path, **how),
        fingerprint="same",
    )


@pytest.fixture
def full_disk(monkeypatch):
    def fails(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", fails)


def test_a_full_disk_is_told_once_and_training_goes_on(tmp_path, full_disk):
    with pytest.warns(PrssmWarning, match=r"not saved.*goes on.*the disk is full") as told:
        state = run(tmp_path / "c", checkpoint_seconds=0.0)
    assert len(told) == 1
    assert int(state["iteration"]) == TOTAL
    assert not list(tmp_path.iterdir())


def test_an_interruption_on_a_full_disk_says_what_is_lost(tmp_path, full_disk):
    def interrupted(state: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(TrainingInterrupted, match=r"at iteration 0 of 4, which could not be saved"):
        run(tmp_path / "c", interrupted)


def test_what_took_longer_than_the_interval_is_saved_at_once(tmp_path):
    seen = []

    def look(state: dict[str, Any]) -> dict[str, Any]:
        seen.append((tmp_path / "c").exists())
        return advance(state)

    run(tmp_path / "c", look, checkpoint_seconds=0.0)
    assert seen == [False, True, True, True]
    assert Session(Silent()).checkpoint_seconds <= 5.0


def test_two_runs_do_not_share_a_checkpoint(tmp_path):
    def second_run(state: dict[str, Any]) -> dict[str, Any]:
        run(tmp_path / "c")
        return advance(state)

    with pytest.raises(ModelFileError, match="another run is using this checkpoint"):
        run(tmp_path / "c", second_run)
    assert run(tmp_path / "c")["x"].tolist() == [4.0, 4.0]
    assert list(tmp_path.iterdir()) == [tmp_path / "c"]


def change(path: Path, name: str, value: np.ndarray, honest: bool) -> None:
    """Another array in a checkpoint; `honest`: with the checksum of the new content."""
    header, arrays = storage.read(path, "checkpoint")
    arrays[f"['{name}']"] = value
    if honest:
        header["content"] = checkpoint._content(arrays)
    storage.write(path, "checkpoint", header, arrays)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("iteration", np.asarray(10**9), "expected an iteration of 0 to 4, got 1000000000"),
        ("iteration", np.asarray(-1), "expected an iteration of 0 to 4, got -1"),
        ("iteration", np.asarray(2.5), "type int64, got shape .* type float64"),
        ("x", np.zeros(3), r"\(2,\) .*, got shape \(3,\)"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path, name, value, match):
    path = tmp_path / "c"
    run(path)
    change(path, name, value, honest=True)
    with pytest.raises(ModelFileError, match=match):
        run(path, resume=True)


def test_a_checkpoint_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "c"
    run(path)
    change(path, "x", np.array([np.nan, 0.0]), honest=False)
    with pytest.raises(ModelFileError, match="not those that were saved"):
        run(path, resume=True)


def trained_and_compared(path: Path) -> list[str]:
    """What a process that ends in a fit says, before there is a checkpoint and after."""
    with resumable(Session(Silent(), path)):
        before = rescued("interrupted")
        run(path)
        return [before, rescued("interrupted")]


def interrupted_while_comparing(session: Session) -> None:
    with resumable(session):
        run(session.checkpoint)
        raise KeyboardInterrupt


def test_an_interruption_after_the_loop_says_how_to_go_on(tmp_path):
    path = tmp_path / "c"
    expected = f"interrupted while models are compared; resume from {path}"
    assert trained_and_compared(path) == ["interrupted", expected]
    assert rescued("interrupted") == "interrupted"
    with pytest.raises(TrainingInterrupted, match=f"fit {expected}$"):
        interrupted_while_comparing(Session(Silent(), tmp_path / "c"))
    with (
        pytest.raises(TrainingInterrupted, match=expected),
        resumable(Session(Silent(), path, True)),
    ):
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["c", None])
def test_without_a_checkpoint_of_its_own_a_fit_is_just_interrupted(tmp_path, name):
    """A file that was there before may belong to another fit."""
    run(tmp_path / "c")
    session = Session(Silent(), name and tmp_path / name)
    with pytest.raises(KeyboardInterrupt) as stopped, resumable(session):
        raise KeyboardInterrupt
    assert not isinstance(stopped.value, TrainingInterrupted)


def test_what_the_loop_says_itself_is_not_said_again(tmp_path):
    def interrupted(state: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    path = tmp_path / "c"
    with (
        pytest.raises(TrainingInterrupted, match=r"^training interrupted at iteration 0 of 4"),
        resumable(Session(Silent(), path)),
    ):
        run(path, interrupted)
