"""Every error that a user can cause, each with a message of one line.

What was expected, what came, where; and the one kind of warning.
"""

import difflib
import sys
import warnings
from collections.abc import Iterable


class PrssmError(Exception):
    """Base of all errors that the library raises on purpose."""


class DataError(PrssmError, ValueError):
    """A recording, file, column or array that cannot be used as it is."""


class OptionError(PrssmError, ValueError):
    """An option with an unknown name, a wrong type or a value out of range."""


class ModelFileError(PrssmError, ValueError):
    """A model or checkpoint file that is truncated, foreign or of another version."""


class NotFittedError(PrssmError, AttributeError):
    """A method that needs a fitted model was called before `fit`."""


class MissingExtraError(PrssmError, ImportError):
    """An optional feature whose package is not installed."""


class TrainingError(PrssmError, RuntimeError):
    """Training ended without a usable model; the message says what to try."""


class ProcessError(PrssmError, RuntimeError):
    """A run in several processes that cannot start, or that lost one of them.

    The message says how to go on.
    """


class TrainingInterrupted(PrssmError, KeyboardInterrupt):
    """Training was stopped by Ctrl-C or a signal; the message says where the checkpoint is."""


class PrssmWarning(UserWarning):
    """Something that works but that a user would want to know.

    Python's `warnings` shows or hides it.
    """


def warn(text: str) -> None:
    """Warn the user in one line, as if the line outside this package that called it did."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("prssm."):
        frame = frame.f_back
        level += 1
    warnings.warn(text, PrssmWarning, stacklevel=level)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' Did you mean 'x'?' for the closest known word, else the list of what is known."""
    known = list(known)
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {', '.join(known)}."
