"""The loop around every long training: resumed, watched, saved at intervals, and saved when it is interrupted."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from prssm.foundation.errors import TrainingInterrupted
from prssm.training.checkpoint import Checkpoint
from prssm.training.session import Session

State = dict[str, Any]  # a tree of arrays; state["iteration"] counts what is done


def run_to_end(state: State, advance: Callable[[State], State], finished: Callable[[State], bool],
               figures: Callable[[State], Mapping[str, float]], total: int, session: Session, fingerprint: str,
               label: str = "training") -> State:
    """Call `advance` until `finished`. Each call is all or nothing: an interruption keeps the state before it."""
    checkpoint = Checkpoint(session.checkpoint, fingerprint)
    if session.resume:
        state = checkpoint.load(state)
    session.progress.start(total, int(state["iteration"]), label)
    saved_at = time.monotonic()
    try:
        while not finished(state):
            state = advance(state)
            session.progress.update(int(state["iteration"]), figures(state))
            if time.monotonic() - saved_at > session.checkpoint_seconds:
                checkpoint.save(state)
                saved_at = time.monotonic()
    except KeyboardInterrupt:
        checkpoint.save(state)
        where = f"; resume from {checkpoint.path}" if checkpoint.path else " (no checkpoint file was named)"
        raise TrainingInterrupted(f"training interrupted at iteration {int(state['iteration'])} of {total}{where}") from None
    finally:
        session.progress.stop()
    checkpoint.save(state)
    return state
