"""Time stamps that are text: dates in many forms, clock times, durations.

Each form is a pattern with a function that turns the matched parts into nanoseconds. The whole
column must have one form, so that one odd cell is named and not guessed. A new form is one more
entry of `_FORMS`.
"""

import datetime
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.clock.grid import grid_of
from prssm.foundation.errors import DataError, OptionError

SECOND = 1_000_000_000  # nanoseconds
DAY = 86400 * SECOND
ORDERS = ("day-first", "month-first")
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number + 1 for number, name in enumerate(_NAMES)}

_CLOCK = r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<f>\d{1,9})\d*)?)?"
_HALF = r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE = r"\s*(?P<zone>Z|z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?(?:\[[\w/]+\])?"
_TIME = rf"(?:(?:[T_,]|\s)\s*{_CLOCK}{_HALF}{_ZONE})?"
_PATTERNS = {
    "iso": rf"(?P<y>\d{{4}})[-/.](?P<mo>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_TIME}",
    "numbers": r"(?P<a>\d{1,2})(?P<sep>[./-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})" + _TIME,
    "month": rf"(?P<d>\d{{1,2}})[-\s.]+(?P<name>[A-Za-z]{{3,9}})[-\s.,]+(?P<y>\d{{4}}){_TIME}",
    "month first": rf"(?P<name>[A-Za-z]{{3,9}})[-\s.]+(?P<d>\d{{1,2}})[\s,]+(?P<y>\d{{4}}){_TIME}",
    "compact": r"(?P<y>(?:19|20)\d{2})(?P<mo>\d{2})(?P<d>\d{2})"
    r"(?:[T_\s]?(?P<h>\d{2})(?P<mi>\d{2})(?P<s>\d{2})(?:[.,](?P<f>\d{1,9})\d*)?)?"
    r"(?P<zone>Z)?",
    "duration": rf"(?P<days>-?\d+)\s*(?:days?|d)[\s,]+{_CLOCK}",
    "clock": rf"{_CLOCK}{_HALF}",
    "minutes": r"(?P<mi>\d{1,3}):(?P<s>\d{2})[.,](?P<f>\d{1,9})\d*",
}
_SAME_RATE = 0.02  # jitter of rows that go on at one rate; months have more than that
_EXPECTED = "seconds, dates (2024-05-31 12:00:00, 31.05.2024 12:00) or clock times (12:00:00.5)"


class Read(NamedTuple):
    """Seconds from the first row, the moment of that row where it has a date, and remarks."""

    seconds: np.ndarray
    start: np.datetime64 | None
    notes: tuple[str, ...] = ()


def looks_like_time(cell: str) -> bool:
    """Whether a cell is a date or a time in one of the forms, a number excepted."""
    return any(re.fullmatch(text, cell) for form, text in _PATTERNS.items() if form != "compact")


def is_compact_date(cells: Sequence[str]) -> bool:
    """Whether whole numbers are dates without marks, as in 20240531120000."""
    pattern = re.compile(_PATTERNS["compact"])
    for cell in cells:
        found = pattern.fullmatch(cell.strip())
        if found is None or len(cell.strip()) not in (8, 14):
            return False
        valid = 1 <= int(found["mo"]) <= 12 and 1 <= int(found["d"]) <= 31
        if not valid or (found["h"] and int(found["h"]) > 23):
            return False
    return True


def read_texts(
    cells: Sequence[str],
    where: str,
    place: Callable[[int], str] = lambda row: f"row {row}",
    order: str | None = None,
) -> Read:
    """A column of texts as seconds; `order` says what comes first in 03/04/2024 (`ORDERS`)."""
    if order is not None and order not in ORDERS:
        raise OptionError(f"time unit: expected {' or '.join(ORDERS)} for dates, got {order!r}")
    stripped = [cell.strip().strip("'\"") for cell in cells]
    form, pattern = _form_of(stripped[0], where, place)
    found = []
    for row, cell in enumerate(stripped):
        match = pattern.fullmatch(cell)
        if match is None:
            raise DataError(
                f"{where}, {place(row)}: expected a time as in the first row ({stripped[0]!r}), "
                f"got {cell!r}"
            )
        found.append(match)
    try:
        return _FORMS[form](found, where, order)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{where}: not a date: {error}") from None


def _form_of(cell: str, where: str, place: Callable[[int], str]) -> tuple[str, re.Pattern[str]]:
    for form, text in _PATTERNS.items():
        pattern = re.compile(text)
        if pattern.fullmatch(cell):
            return form, pattern
    raise DataError(f"{where}, {place(0)}: expected {_EXPECTED}, got {cell!r}")


def _dates(found: Sequence[re.Match[str]], where: str, order: str | None) -> Read:
    """Year, month and day are known by their place or name."""
    days = [
        _day(int(m["y"]), _month(m["name"]) if "name" in m.re.groupindex else int(m["mo"]), m["d"])
        for m in found
    ]
    return _dated(days, found)


def _numbered_dates(found: Sequence[re.Match[str]], where: str, order: str | None) -> Read:
    """Day or month first: as the user says, or as the column decides."""
    chosen = order or _order(found, where)
    if chosen is None:
        return _by_regularity(found, where)
    return _in_order(found, chosen)


def _in_order(found: Sequence[re.Match[str]], order: str) -> Read:
    first = "a" if order == "day-first" else "b"
    second = "b" if order == "day-first" else "a"
    days = [_day(_year(m["y"]), int(m[second]), m[first]) for m in found]
    return _dated(days, found)


def _order(found: Sequence[re.Match[str]], where: str) -> str | None:
    """What the numbers allow; None where they allow both."""
    firsts = max(int(m["a"]) for m in found)
    seconds = max(int(m["b"]) for m in found)
    if firsts > 12 and seconds > 12:
        raise DataError(
            f"{where}: dates are neither day first nor month first: numbers above 12 stand in both "
            "places"
        )
    if firsts > 12 or found[0]["sep"] == ".":
        return "day-first"
    if seconds > 12:
        return "month-first"
    same_date = len({(m["a"], m["b"], m["y"]) for m in found}) == 1
    return "day-first" if same_date else None  # on one day both count the same seconds


def _by_regularity(found: Sequence[re.Match[str]], where: str) -> Read:
    """The order in which the rows go on at a constant rate, if it is one only."""
    good = []
    for order in ORDERS:
        read = _in_order(found, order)
        steps = np.diff(read.seconds)
        if (steps > 0).all():
            grid = grid_of(read.seconds)
            if grid.regular and grid.jitter < _SAME_RATE:
                good.append(read)
    if len(good) == 1:
        return good[0]
    raise DataError(
        f"{where}: {found[0].group()!r} may be day first or month first; say --time-unit day-first "
        "or month-first (in Python time_unit='day-first')"
    )


def _clocks(found: Sequence[re.Match[str]], where: str, order: str | None) -> Read:
    """Clock times without a date; going back by more than half a day is midnight."""
    moments = np.array([_within_day(m) for m in found], dtype=np.int64)
    passed = np.diff(moments) < -DAY // 2
    moments[1:] += np.cumsum(passed) * DAY
    short = found[0]["s"] is None
    note = (f"{where}: {found[0].group()!r} is read as hours and minutes",)
    return Read((moments - moments[0]) / SECOND, None, note if short else ())


def _minutes(found: Sequence[re.Match[str]], where: str, order: str | None) -> Read:
    """Minutes and seconds with a fraction; going back is a full hour, as Excel shows them."""
    values = [60 * SECOND * int(m["mi"]) + SECOND * int(m["s"]) + _fraction(m) for m in found]
    moments = np.array(values, dtype=np.int64)
    hour = 3600 * SECOND
    moments[1:] += np.cumsum(np.diff(moments) < -hour // 2) * hour
    return Read((moments - moments[0]) / SECOND, None)


def _durations(found: Sequence[re.Match[str]], where: str, order: str | None) -> Read:
    moments = np.array([int(m["days"]) * DAY + _within_day(m) for m in found], dtype=np.int64)
    return Read((moments - moments[0]) / SECOND, None)


_FORMS: dict[str, Callable[[Sequence[re.Match[str]], str, str | None], Read]] = {
    "iso": _dates,
    "numbers": _numbered_dates,
    "month": _dates,
    "month first": _dates,
    "compact": _dates,
    "duration": _durations,
    "clock": _clocks,
    "minutes": _minutes,
}


def _dated(days: Sequence[int], found: Sequence[re.Match[str]]) -> Read:
    """Dates and times of day together, in UTC where the stamps have a zone."""
    zones = [_zone(m) for m in found]
    values = [
        day * DAY + _within_day(m) - (zone or 0)
        for day, m, zone in zip(days, found, zones, strict=True)
    ]
    moments = np.array(values, dtype=np.int64)
    notes: tuple[str, ...] = ()
    if all(zone is None for zone in zones):
        moments, notes = _without_summer_time(moments)
    start = np.datetime64(int(moments[0]), "ns")
    return Read((moments - moments[0]) / SECOND, start, notes)


def _without_summer_time(moments: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Local stamps that jump by an hour on a Sunday night in spring or autumn, made continuous."""
    steps = np.diff(moments)
    forward = steps[steps > 0]
    usual = float(np.quantile(forward, 0.5, method="lower")) if len(forward) else 0.0
    hour = 3600 * SECOND
    if not 0 < usual < hour:
        return moments, ()
    notes = []
    for row in np.flatnonzero(np.abs(steps) > hour - 2 * usual):
        shift = next((s for s in (-hour, hour) if abs(steps[row] - s - usual) <= usual / 4), 0)
        if shift and _may_change_clocks(int(moments[row])):
            moments = moments.copy()
            moments[row + 1 :] -= shift
            told = str(np.datetime64(int(moments[row]) // SECOND, "s"))
            notes.append(
                f"the clock is put {'forward' if shift > 0 else 'back'} by an hour after {told} "
                "(summer time); the rows are taken as going on without a gap"
            )
    return moments, tuple(notes)


def _may_change_clocks(moment: int) -> bool:
    """Whether this is the night to a Sunday, or that Sunday's morning, in a month of changes."""
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=moment // DAY)
    hour = moment % DAY // (3600 * SECOND)
    night = (day.weekday() == 6 and hour < 4) or (day.weekday() == 5 and hour == 23)
    return night and day.month in (3, 4, 9, 10, 11)


def _within_day(m: re.Match[str]) -> int:
    """Nanoseconds since midnight of the matched clock time; 0 where there is none."""
    if m["h"] is None:
        return 0
    hour = int(m["h"])
    half = m.groupdict().get("half")
    if half is not None:
        hour = hour % 12 + (12 if half in "pP" else 0)
    seconds = 3600 * hour + 60 * int(m["mi"]) + int(m["s"] or 0)
    if hour > 24 or int(m["mi"]) > 59 or int(m["s"] or 0) > 60:
        raise ValueError(f"{m.group()!r} has no such hour, minute or second")
    return seconds * SECOND + _fraction(m)


def _fraction(m: re.Match[str]) -> int:
    return int((m["f"] or "0").ljust(9, "0"))


def _zone(m: re.Match[str]) -> int | None:
    """Nanoseconds by which the stamp is ahead of UTC; None where it does not say."""
    word = m.groupdict().get("zone")
    if word is None:
        return None
    if word[0] not in "+-":
        return 0
    digits = word[1:].replace(":", "").ljust(4, "0")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return (1 if word[0] == "+" else -1) * minutes * 60 * SECOND


def _year(text: str) -> int:
    """Two digits mean 1970 to 2069."""
    year = int(text)
    if len(text) == 4:
        return year
    return year + (1900 if year >= 70 else 2000)


def _month(name: str) -> int:
    found = _MONTHS.get(name[:3].lower())
    if found is None:
        raise ValueError(f"{name!r} is no English month")
    return found


def _day(year: int, month: int, day: str) -> int:
    """Days since 1970; a ValueError where there is no such day."""
    return (datetime.date(year, month, int(day)) - datetime.date(1970, 1, 1)).days
