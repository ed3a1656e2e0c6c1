"""What the processes of a run tell each other outside of computations.

Small texts in the coordinator's store.
"""

from typing import Any

import jax
from jax._src.distributed import global_state  # JAX has no public name for its key-value store

# What JAX raises when the store, which process 0 holds, does not answer.
GONE = (ValueError, RuntimeError)


def count() -> int:
    """How many processes work together now."""
    return global_state.num_processes if jax.distributed.is_initialized() else 1


def own_index() -> int:
    return global_state.process_id


def leads() -> bool:
    """Whether this process writes the files and speaks; true where there is only one."""
    return own_index() == 0


def put(key: str, text: str) -> None:
    """Leave a text for all processes; it replaces what was there."""
    _client().key_value_set(f"prssm/{key}", text, allow_overwrite=True)


def get(key: str, wait_seconds: float = 0.0) -> str | None:
    """The text under a key, or None where there is none (yet)."""
    try:
        if wait_seconds:
            return _client().blocking_key_value_get(f"prssm/{key}", int(1000 * wait_seconds))
        return _client().key_value_try_get(f"prssm/{key}")
    except GONE as error:
        if "NOT_FOUND" in str(error) or "DEADLINE_EXCEEDED" in str(error):
            return None
        raise


def _client() -> Any:
    """JAX's connection to the store, for which it has no public type."""
    if global_state.client is None:
        raise RuntimeError("this process has not joined a run")
    return global_state.client


def say_last_words(line: str) -> None:
    """Why this process ends."""
    put(f"ended/{own_index()}", line)


def last_words() -> str | None:
    """The line with which another process has ended, if one has and could say it."""
    for process in range(count()):
        if process != own_index() and (line := get(f"ended/{process}")) is not None:
            return f"process {process} ended: {line}"
    return None


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
