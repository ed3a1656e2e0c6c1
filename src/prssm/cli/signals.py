"""SIGTERM stops training as Ctrl-C does: the library saves its checkpoint and says how to go on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGTERM_CODE = 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """The program was asked to end by SIGTERM."""


def terminated(error: BaseException | None) -> bool:
    """Whether an error goes back to SIGTERM, through whatever was raised while it was handled."""
    while error is not None and not isinstance(error, Terminated):
        error = error.__context__
    return error is not None


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Terminated("ended by SIGTERM")


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """While inside, SIGTERM raises KeyboardInterrupt in the main thread.

    The earlier handler comes back afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    earlier = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
