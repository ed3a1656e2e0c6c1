"""Every error that a user can cause, each with a message of one line.

What was expected, what came, where; and the one kind of warning.
"""

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence

LONGEST = 300  # characters of a message, whatever a file has put into it


class PrssmError(Exception):
    """Base of all errors that the library raises on purpose."""

    def __str__(self) -> str:
        return shortened(super().__str__())


def shortened(text: str, most: int = LONGEST) -> str:
    """A text with its middle left out where it is too long: its begin and its end say most."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 5]} ... {text[-end:]}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in a row, the first ones of many; what there is no room for is counted."""
    names = list(names)
    left_out = len(names) - most
    more = f" and {left_out} more" if left_out > 0 else ""
    return ", ".join(names[:most]) + more


class DataError(PrssmError, ValueError):
    """A recording, file, column or array that cannot be used as it is."""


class OptionError(PrssmError, ValueError):
    """An option with an unknown name, a wrong type or a value out of range."""


class ModelFileError(PrssmError, ValueError):
    """A model or checkpoint file that is truncated, foreign or of another version."""


class WriteError(PrssmError, OSError):
    """A file that cannot be written, as on a full disk; an old file of that name is intact."""


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


_ENOUGH = 3  # letters of a word that a longer one begins with


def did_you_mean(word: str, known: Iterable[str], among: Sequence[str] | None = None) -> str:
    """' Did you mean 'x'?' for the closest known word, else the list of what is known.

    Where not all that is known may be meant, `among` is what may.
    """
    known = list(known)
    possible = known if among is None else among
    begun = str(word).lower()
    alike = [name for name in possible if str(name).lower().startswith(begun)]
    if len(alike) == 1 and len(begun) >= _ENOUGH:
        return f" Did you mean {alike[0]!r}?"
    close = difflib.get_close_matches(str(word), possible, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {listed(known, most=40)}."
