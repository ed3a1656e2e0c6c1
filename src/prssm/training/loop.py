"""The loop around every long training.

It can be resumed and watched, and is saved at intervals and when it is interrupted.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from prssm.foundation.errors import (
    ModelFileError,
    ProcessError,
    PrssmWarning,
    TrainingInterrupted,
    WriteError,
)
from prssm.training.checkpoint import Checkpoint
from prssm.training.distributed import processes
from prssm.training.distributed.watch import rescued_by
from prssm.training.session import Session

_SAVING_SHARE = 0.05  # of the time, at most, for writing checkpoints

State = dict[str, Any]  # a tree of arrays; state["iteration"] counts what is done


def run_to_end(
    state: State,
    advance: Callable[[State], State],
    finished: Callable[[State], bool],
    figures: Callable[[State], Mapping[str, float]],
    total: int,
    session: Session,
    fingerprint: str,
    label: str | None = None,
) -> State:
    """Call `advance` until `finished`.

    Each call is all or nothing: an interruption keeps the state before it. `label` is said to the
    watcher instead of the session's own.
    """
    saver = _Saver(Checkpoint(session.checkpoint, fingerprint), session.checkpoint_seconds, total)
    processes.agree("data and options", fingerprint)
    with saver.checkpoint.alone():
        state = processes.from_leader(saver.found(state) if session.resume else state)
        session.progress.start(total, int(state["iteration"]), label or session.label)
        try:
            with rescued_by(lambda words: f"{words}; training stopped {saver.saved(state)}"):
                while not finished(state):
                    with processes.noticing_losses():
                        state = advance(state)
                    session.progress.update(int(state["iteration"]), figures(state))
                    saver.save_at_times(state)
        except KeyboardInterrupt:
            raise TrainingInterrupted(f"training interrupted {saver.saved(state)}") from None
        except ProcessError as error:
            raise ProcessError(f"{error}; training stopped {saver.saved(state)}") from None
        finally:
            session.progress.stop()
        saver.try_to_save(state)
    return state


@contextmanager
def resumable(session: Session) -> Iterator[None]:
    """Put it around a whole fit: Ctrl-C beside the training loops says where to go on from.

    So it is while what was trained is compared, chosen and calibrated.
    """
    before = _written(session)

    def how_to_go_on() -> str:
        """Nothing where this fit has no checkpoint yet: an older one may be of another fit."""
        now = _written(session)
        if now is None or (now == before and not session.resume):
            return ""
        return f" while models are compared; resume from {session.checkpoint}"

    with rescued_by(lambda words: f"{words}{how_to_go_on()}"):
        try:
            yield
        except TrainingInterrupted:
            raise
        except KeyboardInterrupt:
            words = how_to_go_on()
            if not words:
                raise
            raise TrainingInterrupted(f"fit interrupted{words}") from None


def _written(session: Session) -> int | None:
    """When the checkpoint was written; None where there is none."""
    path = session.checkpoint
    return path.stat().st_mtime_ns if path is not None and path.is_file() else None


class _Saver:
    """Writes the checkpoint, and says where training stands. A full disk does not end training."""

    def __init__(self, checkpoint: Checkpoint, seconds: float, total: int) -> None:
        self.checkpoint = checkpoint
        self.seconds = seconds
        self.total = total
        self.last = time.monotonic()
        self.cost = 0.0
        self.warned = False

    def found(self, begin: State) -> State:
        """The saved state, or the beginning where nothing was saved."""
        state = self.checkpoint.load(begin)
        if not 0 <= int(state["iteration"]) <= self.total:
            raise ModelFileError(
                f"{self.checkpoint.path}: expected an iteration of 0 to {self.total}, got "
                f"{int(state['iteration'])}"
            )
        return state

    def save_at_times(self, state: State) -> None:
        """Often enough to lose little, and never for more than a small share of the time."""
        if time.monotonic() - self.last > max(self.seconds, self.cost / _SAVING_SHARE):
            begun = time.monotonic()
            self.try_to_save(state)
            self.last = time.monotonic()
            self.cost = self.last - begun

    def try_to_save(self, state: State) -> None:
        try:
            self.checkpoint.save(state)
        except WriteError as error:
            if not self.warned:
                words = f"the checkpoint was not saved, training goes on: {error}"
                warnings.warn(words, PrssmWarning, stacklevel=3)
            self.warned = True

    def saved(self, state: State) -> str:
        """Save before the end, and say how to go on."""
        where = f"at iteration {int(state['iteration'])} of {self.total}"
        if self.checkpoint.path is None:
            return f"{where} (no checkpoint file was named)"
        try:
            self.checkpoint.save(state)
        except WriteError as error:
            return f"{where}, which could not be saved: {error}"
        return f"{where}; resume from {self.checkpoint.path}"
