"""What the commands say to a person.

Parse errors in one line, notes on standard error, the progress bar or none.
"""

import difflib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from cyclopts import CycloptsError, MissingArgumentError, UnusedCliTokensError

from prssm.cli.search_settings import SEARCH_WORDS
from prssm.cli.settings import FIT_WORDS
from prssm.foundation.errors import PrssmWarning


def explained(error: CycloptsError, words: Sequence[str] = ()) -> str:
    """A parse error in one line; `words` are those of the command line.

    A misspelt flag gets a suggestion although the command takes options of any name.
    """
    command = " ".join(error.command_chain or ())
    text = _places(error, command) or str(error).removeprefix(f'Command "{command}" ')
    flags = {"fit": FIT_WORDS, "search": SEARCH_WORDS}.get(command)
    if isinstance(error, MissingArgumentError) and error.keyword:
        text += _with_a_minus(error.keyword, words)
    if isinstance(error, MissingArgumentError) and flags and error.keyword:
        known = [f"--{name.replace('_', '-')}" for name in flags]
        close = difflib.get_close_matches(error.keyword, known, n=1, cutoff=0.6)
        if close and close[0] != error.keyword:
            text += f" Did you mean {close[0]}?"
    return f"{text} See: prssm {command} --help" if command else text


def _places(error: CycloptsError, command: str) -> str:
    """What is said of a word without a name that is missing, or one too many; else nothing."""
    if error.target is None:
        return ""
    named = inspect.signature(error.target).parameters.values()
    places = [one.name.upper() for one in named if one.kind is one.POSITIONAL_OR_KEYWORD]
    if isinstance(error, UnusedCliTokensError):
        after = f"nothing after {' '.join(places)}" if places else "no such word"
        return f"{', '.join(error.unused_tokens or ())}: expected {after}."
    place = None if error.argument is None else error.argument.index
    if isinstance(error, MissingArgumentError) and place is not None and not error.keyword:
        return f"{places[place]} is missing: prssm {command} {' '.join(places)}."
    return ""


def _with_a_minus(flag: str, words: Sequence[str]) -> str:
    """How a value such as -3s is written, where it was taken for another flag; else nothing."""
    for word, after in pairwise(words):
        if word == flag and after[:1] == "-" and after[1:2].isdigit():
            return f" A value that begins with a minus is written {flag}={after}."
    return ""


def note(text: str) -> None:
    """One line for the person at the terminal, whatever the text holds.

    Results on standard output stay clean.
    """
    print(f"prssm: {' '.join(text.split())}", file=sys.stderr)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """While inside, a warning of this package is a line for the person, each said once."""
    said: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, PrssmWarning):
                show(message, category, *where, **more)
            elif str(message) not in said:
                said.add(str(message))
                note(f"caution: {message}")

        warnings.showwarning = tell
        warnings.simplefilter("always", PrssmWarning)
        yield


@contextmanager
def unwarned() -> Iterator[None]:
    """While inside, warnings of this package are not shown: of many runs they are too many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrssmWarning)
        yield


def news(quiet: bool) -> Callable[[str], None]:
    """Tells what has been reached, in a log as well; with --quiet nobody."""
    return _unsaid if quiet else note


def _unsaid(text: str) -> None:
    """For what is not told."""


def phases(quiet: bool) -> Callable[[str], None]:
    """Names what goes on, on a terminal; in a log it would only be noise."""
    return note if wants_progress(quiet) else _unsaid


def wants_progress(quiet: bool) -> bool:
    """Whether to show a progress bar.

    A bar belongs on a terminal (or where FORCE_COLOR or TTY_COMPATIBLE says so), not in a log file.
    """
    if quiet:
        return False
    from rich.console import Console

    return Console(stderr=True).is_terminal
