"""What a user wants done with time stamps that do not go on at a constant rate."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from prssm.foundation.errors import OptionError

Gaps = Literal["error", "split", "fill"]
Duplicates = Literal["error", "mean", "first"]
AUTO = "auto"
_SECONDS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def seconds_of(word: str, argument: str) -> float:
    """A time as one writes it: '90', '0.5s', '20ms', '1.5min' or '1h'."""
    parts = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:e-?\d+)?)\s*([a-z]*)\s*", word)
    if parts is None or parts[2] not in _SECONDS or float(parts[1]) <= 0.0:
        raise OptionError(f"{argument}: expected a time such as 0.5s, 5min or 1h, got {word!r}")
    return float(parts[1]) * _SECONDS[parts[2]]


@dataclass(frozen=True)
class TimeRules:
    """How time stamps are read and mended; by default nothing is mended.

    `gaps`: 'split' makes experiments of the parts between gaps, 'fill' adds rows with missing
    outputs. `sort` puts rows in order of time. `duplicates`: of rows with one stamp 'first' keeps
    the first, 'mean' their mean. `resample` is a new step in seconds (or '0.5s'), or 'auto' for the
    usual one. `unit` says what the stamps count: 'ms', 'excel', 'matlab', ...; of dates 'day-first'
    or 'month-first'.
    """

    gaps: Gaps = "error"
    sort: bool = False
    duplicates: Duplicates = "error"
    resample: float | str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        _check_word("gaps", self.gaps, get_args(Gaps))
        _check_word("duplicates", self.duplicates, get_args(Duplicates))
        if isinstance(self.resample, str) and self.resample != AUTO:
            object.__setattr__(self, "resample", seconds_of(self.resample, "resample"))
        number = self.resample
        if isinstance(number, int | float) and not 0.0 < number < float("inf"):
            raise OptionError(f"resample: expected a number of seconds above 0, got {number!r}")


def needing_stamps(rules: TimeRules) -> str | None:
    """The first rule that means nothing where rows have no time, as one writes it; else None."""
    plain = TimeRules()
    if rules.gaps != plain.gaps:
        return f"--gaps {rules.gaps}"
    if rules.duplicates != plain.duplicates:
        return f"--duplicates {rules.duplicates}"
    return "--sort" if rules.sort else None


def _check_word(name: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise OptionError(f"{name}: expected {', '.join(known)}, got {word!r}")
