"""Ctrl-C and SIGTERM end a command within three seconds: what was trained is saved, a line says so.

A signal raises an interruption in the main thread. Python does that between two steps of its own
only, and compiled code can take long, so a thread watches too. A program that calls `main` with
words of its own keeps its Ctrl-C.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from prssm.foundation import atomic, locks

SIGTERM_CODE = 128 + signal.SIGTERM
ACKNOWLEDGED_SECONDS = 0.7  # until a line says that the signal was heard
PATIENCE_SECONDS = 2.3  # until the program ends where it is
_ENDING = threading.Lock()  # taken once, by whoever ends this process
_received: list[int] = []


class Terminated(KeyboardInterrupt):
    """The program was asked to end by SIGTERM."""


def terminated(error: BaseException | None) -> bool:
    """Whether an error goes back to SIGTERM, through whatever was raised while it was handled."""
    while error is not None and not isinstance(error, Terminated):
        error = error.__context__
    return error is not None


def _interrupt(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGTERM:
        raise Terminated("ended by SIGTERM")
    raise KeyboardInterrupt


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


@contextmanager
def stoppable_program() -> Iterator[None]:
    """While inside, either signal ends this process, which is the command's own."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    sys.unraisablehook = _quiet_about_interruptions
    earlier = {
        number: signal.signal(number, _interrupt_program)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN  # as nohup and `&` in a script ask for
    }
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)


def end(line: str, code: int) -> NoReturn:
    """End the process with one line, at once.

    An orderly exit of the interpreter would wait for threads of compiled code, or crash in what an
    interruption has left half made.
    """
    if not _ENDING.acquire(blocking=False):
        threading.Event().wait()  # another thread is ending this process
    if (watch := sys.modules.get("prssm.training.distributed.watch")) is not None:
        watch.leave(line, code)  # one of several processes: the others hear why
    atomic.remove_unfinished()
    locks.remove_held()
    for child in multiprocessing.active_children():
        child.terminate()
    _say(line)
    os._exit(code)


def _interrupt_program(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    if len(_received) > 1:  # the user does not want to wait
        os._exit(128 + _received[0])
    if _is_importing(frame):
        _end_here(number)
    _interrupt(number, frame)


def _is_importing(frame: FrameType | None) -> bool:
    """Whether the main thread is in an import: a half-made module of jaxlib crashes when freed."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _watch(reading: int) -> None:
    """Reads the numbers of signals, which Python writes even while the main thread computes."""
    for number in iter(lambda: os.read(reading, 1), b""):
        if number[0] in (signal.SIGINT, signal.SIGTERM):
            break
    threading.Event().wait(ACKNOWLEDGED_SECONDS)
    _say("stopping; once more ends it without saving")
    threading.Event().wait(PATIENCE_SECONDS - ACKNOWLEDGED_SECONDS)
    _end_here(number[0])


def _end_here(number: int) -> NoReturn:
    """Save the run that is going on, whatever the main thread does, and end."""
    line = "ended by SIGTERM" if number == signal.SIGTERM else "interrupted"
    if (watch := sys.modules.get("prssm.training.distributed.watch")) is not None:
        try:
            line = watch.rescued(line)
        except Exception as error:  # the line must be said whatever the disk does
            line = f"{line}; what was trained could not be saved: {error}"
    end(line, 128 + number)


def _quiet_about_interruptions(unraisable: Any) -> None:
    """Where nobody could catch an interruption, the watching thread ends the process."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _say(line: str) -> None:
    """One line, also where a progress bar or another thread holds the stream."""
    with suppress(OSError):  # nobody reads it
        os.write(2, f"prssm: {' '.join(line.split())}\n".encode())
