"""The loop around every long training.

It can be resumed and watched, and is saved at intervals and when it is interrupted.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from prssm.foundation.errors import ProcessError, TrainingInterrupted
from prssm.training.checkpoint import Checkpoint
from prssm.training.distributed import processes
from prssm.training.distributed.watch import rescued_by
from prssm.training.session import Session

State = dict[str, Any]  # a tree of arrays; state["iteration"] counts what is done


def run_to_end(
    state: State,
    advance: Callable[[State], State],
    finished: Callable[[State], bool],
    figures: Callable[[State], Mapping[str, float]],
    total: int,
    session: Session,
    fingerprint: str,
    label: str = "training",
) -> State:
    """Call `advance` until `finished`.

    Each call is all or nothing: an interruption keeps the state before it.
    """
    checkpoint = Checkpoint(session.checkpoint, fingerprint)
    processes.agree("data and options", fingerprint)
    state = processes.from_leader(checkpoint.load(state) if session.resume else state)
    session.progress.start(total, int(state["iteration"]), label)
    saved_at = time.monotonic()

    def rescued(words: str) -> str:
        checkpoint.save(state)
        return f"{words}; training stopped {_where(state, total, checkpoint)}"

    try:
        with rescued_by(rescued):
            while not finished(state):
                with processes.noticing_losses():
                    state = advance(state)
                session.progress.update(int(state["iteration"]), figures(state))
                if time.monotonic() - saved_at > session.checkpoint_seconds:
                    checkpoint.save(state)
                    saved_at = time.monotonic()
    except KeyboardInterrupt:
        checkpoint.save(state)
        raise TrainingInterrupted(
            f"training interrupted {_where(state, total, checkpoint)}"
        ) from None
    except ProcessError as error:
        raise ProcessError(rescued(str(error))) from None
    finally:
        session.progress.stop()
    checkpoint.save(state)
    return state


def _where(state: State, total: int, checkpoint: Checkpoint) -> str:
    resume = (
        f"; resume from {checkpoint.path}" if checkpoint.path else " (no checkpoint file was named)"
    )
    return f"at iteration {int(state['iteration'])} of {total}{resume}"
