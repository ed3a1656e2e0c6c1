"""Time stamps that are numbers: seconds, Unix time of any unit, days of Excel or MATLAB.

A unit that the user or the column's name gives decides. Else the size of the numbers does, where it
can mean one thing only.
"""

import re
from typing import NamedTuple

import numpy as np

from prssm.foundation.errors import OptionError, did_you_mean

DAY = 86400.0
# seconds in a unit; what a user may say
UNITS = {
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "days": DAY,
    "excel": DAY,
    "matlab": DAY,
}
_WORDS = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "µs": "us",
    "μs": "us",
    "usec": "us",
    "microseconds": "us",
    "nanoseconds": "ns",
    "nsec": "ns",
    "m": "min",
    "minutes": "min",
    "hours": "h",
    "hr": "h",
    "d": "days",
    "day": "days",
}
# numbers of this size count from 1970, since no record lasts for so many seconds
_UNIX = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))
# day 0 of Excel and of MATLAB's datenum, and the numbers of the years 1955 to 2120
_EPOCHS: dict[str, tuple[str, float, float]] = {
    "excel": ("1899-12-30", 20_000.0, 80_500.0),
    "matlab": ("-0001-12-31", 714_000.0, 774_500.0),
}


class Counted(NamedTuple):
    """Seconds from the first row, the moment of that row where it is known, and a remark."""

    seconds: np.ndarray
    start: np.datetime64 | None = None
    note: str = ""


def counted(numbers: np.ndarray, name: str, unit: str | None = None) -> Counted:
    """A column of numbers as seconds."""
    told = checked_unit(unit) or unit_in(name)
    from_first = (numbers - numbers[0]).astype(np.float64)
    if told is not None:
        return Counted(from_first * UNITS[told], _moment(float(numbers[0]), told))
    size = float(np.nanmax(np.abs(numbers)))
    for least, word in _UNIX:
        if size >= least:
            start = np.datetime64(int(numbers[0] * (UNITS[word] * 1e9)), "ns")
            return Counted(from_first * UNITS[word], start)
    for word, (_, low, high) in _EPOCHS.items():
        if low <= float(np.nanmin(numbers)) and size <= high:
            return _days_or_seconds(numbers, from_first, word, name=name)
    return Counted(from_first)


def checked_unit(unit: str | None) -> str | None:
    """The unit under its usual name."""
    if unit is None:
        return None
    word = _WORDS.get(unit.strip().lower(), unit.strip().lower())
    if word not in UNITS:
        raise OptionError(f"time unit: unknown unit {unit!r}.{did_you_mean(word, UNITS)}")
    return word


def unit_in(name: str) -> str | None:
    """The unit that a column's name ends with: 't [ms]', 'time (s)', 'time_ms'."""
    found = re.search(r"[\[(]\s*([^\])]+?)\s*[\])]\s*$|_([a-zA-Zµμ]+)$", name)
    if found is None:
        return None
    word = (found[1] or found[2]).lower()
    word = _WORDS.get(word, word)
    return word if word in UNITS else None


def _days_or_seconds(
    numbers: np.ndarray, from_first: np.ndarray, word: str, *, name: str
) -> Counted:
    """Days if the step is a round number of seconds then, and is none as it stands."""
    rounding = 8.0 * float(np.spacing(np.nanmax(np.abs(numbers))))
    steps = len(from_first) - 1
    candidates = [(float(np.nanmedian(np.diff(from_first))), rounding)] if steps else []
    if steps:  # the whole record knows the step better, unless it has gaps
        candidates.append((float(from_first[-1]) / steps, rounding / steps))
    for step, resolution in candidates:
        if not _is_round(step, resolution) and _is_round(DAY * step, DAY * resolution):
            return Counted(from_first * DAY, _moment(float(numbers[0]), word))
    note = (
        f"time column {name!r} is read as seconds; if it counts days, say --time-unit {word} "
        f"(in Python time_unit={word!r})"
    )
    return Counted(from_first, None, note)


def _is_round(step: float, resolution: float) -> bool:
    """Whether a number with at most three digits lies within what rounding can explain."""
    return abs(step - float(f"{step:.3g}")) <= resolution


def _moment(first: float, unit: str) -> np.datetime64 | None:
    """The date of the first row, where the numbers count days from a known one."""
    if unit not in _EPOCHS:
        return None
    epoch = np.datetime64(_EPOCHS[unit][0], "us")
    return (epoch + np.timedelta64(round(first * DAY * 1e6), "us")).astype("datetime64[ns]")
