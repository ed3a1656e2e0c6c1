"""What is in a file, before anything is fitted: columns, time, ranges, gaps, and advice."""

from dataclasses import dataclass, replace
from itertools import pairwise
from shlex import quote

import numpy as np

from prssm.data.advice.advise import notes_about
from prssm.data.clock.grid import grid_of
from prssm.data.clock.names import called_time, time_column
from prssm.data.clock.stamps import Stamps
from prssm.data.io.columns import NO_WORDS, FileColumns, FileWords, unit_of
from prssm.data.io.files import AnyPath, open_columns
from prssm.data.io.records import Choice, chosen_names, records_of
from prssm.foundation.errors import DataError, listed

_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = 6  # of a limit
_DIGITS_APART = 4  # of the distance of two limits that nearly agree
_DIGITS_MOST = 15  # that a number in double precision has


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """One column: what it holds, its range, how much of it is missing, and its values."""

    name: str
    kind: str
    unit: str = ""
    values: np.ndarray | None = None
    missing: int = 0

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest value."""
        if self.values is None or not np.isfinite(self.values).any():
            return None
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))

    @property
    def limits(self) -> tuple[str, str]:
        """The range in words; of values with a large offset, with the digits that differ."""
        if self.range is None:
            return "", ""
        low, high = self.range
        largest = max(abs(low), abs(high))
        digits = _DIGITS
        if high > low:
            common = int(np.floor(np.log10(largest) - np.log10(high - low)))
            digits = max(_DIGITS, min(_DIGITS_MOST, common + _DIGITS_APART))
        return f"{low + 0.0:.{digits}g}", f"{high + 0.0:.{digits}g}"


@dataclass(frozen=True, eq=False)
class Overview:
    """A file in a few words; `advice` are lines about what is odd and what to do next."""

    where: str
    rows: int
    columns: list[ColumnFacts]
    time: str | None
    dt: float | None
    advice: list[str]


def overview(path: AnyPath, choice: Choice, words: FileWords = NO_WORDS) -> Overview:
    """Look at a file; what cannot be read is a line of advice, not an error."""
    columns = open_columns(path, words)
    time = choice.time or time_column(columns.names)
    facts = [facts_of(columns, name, is_time=name == time) for name in dict.fromkeys(columns.names)]
    advice = _repeated_names(columns)
    dt = None
    if time is not None:
        dt, said = _time_facts(columns, time, choice)
        advice += said
        if choice.time is None and choice.dt is None and called_time(columns.names) is None:
            advice.append(f"name the time column where you read the file: --time {quote(time)}")
    elif choice.dt is None:
        advice.append("no time column found: name it with --time, or give --dt seconds")
    free = [fact.name for fact in facts if fact.kind == "number"]
    advice += _about_columns(columns, replace(choice, time=time), free)
    rows = max((len(fact.values) for fact in facts if fact.values is not None), default=0)
    return Overview(columns.where, rows, facts, time, dt or choice.dt, advice)


def sparkline(values: np.ndarray, width: int = 48) -> str:
    """A column as one line of small blocks; a blank is where nothing was measured."""
    width = min(width, len(values))
    edges = np.linspace(0, len(values), width + 1).astype(int)
    parts = [values[a:b] for a, b in pairwise(edges)]
    means = np.array([np.nanmean(p) if np.isfinite(p).any() else np.nan for p in parts])
    if not np.isfinite(means).any():
        return " " * width
    low = np.nanmin(means)
    reach = np.nanmax(means) - low
    level = (means - low) / reach if reach > 0.0 else np.where(np.isfinite(means), 0.0, np.nan)
    last = len(_BLOCKS) - 1
    return "".join(" " if np.isnan(x) else _BLOCKS[round(float(x) * last)] for x in level)


def facts_of(columns: FileColumns, name: str, *, is_time: bool) -> ColumnFacts:
    unit = columns.units.get(name) or unit_of(name) or ""
    if is_time:
        return ColumnFacts(name, "time", unit)
    try:
        if columns.names.count(name) > 1:
            return ColumnFacts(name, "several", unit)
        values = columns.numbers(name)
    except DataError:
        return ColumnFacts(name, "text", unit)
    return ColumnFacts(name, "number", unit, values, int(np.isnan(values).sum()))


def _repeated_names(columns: FileColumns) -> list[str]:
    repeated = {name for name in columns.names if columns.names.count(name) > 1}
    return [f"several columns are called {name!r}: rename those you need" for name in repeated]


def _time_facts(columns: FileColumns, time: str, choice: Choice) -> tuple[float | None, list[str]]:
    """The sampling time, and what is wrong with the stamps."""
    try:
        stamps = columns.stamps(columns.expand(time)[0], choice.rules.unit)
    except DataError as error:
        return None, [str(error)]
    steps = np.diff(stamps.seconds)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    if not len(steps):
        return None, [f"time column {time!r} does not go on"]
    dt = float(np.median(steps))
    return _grid_step(stamps) or dt, list(stamps.notes)


def _grid_step(stamps: Stamps) -> float | None:
    seconds = stamps.seconds
    if not np.isfinite(seconds).all() or not (np.diff(seconds) > 0).all():
        return None
    grid = grid_of(seconds)
    return grid.dt if grid.regular else None


def _about_columns(columns: FileColumns, choice: Choice, free: list[str]) -> list[str]:
    """What reading the columns as inputs and outputs would say; `free` are those with numbers."""
    asked = [chosen_names(columns, choice.inputs, "u"), chosen_names(columns, choice.outputs, "y")]
    if not any(asked):
        return [_which(free)]
    try:
        records = records_of(columns, choice)
    except DataError as error:
        return [str(error).removeprefix(f"{columns.where}: ")]
    return [str(note) for note in notes_about(records)]


def _which(free: list[str]) -> str:
    """How to name inputs and outputs, by the columns that can be."""
    if not free:
        return "no column holds numbers alone: there is nothing to learn from"
    last = quote(free[-1])
    if len(free) == 1:
        return f"say which columns are outputs, e.g. -y {last} (nothing else could be an input)"
    return (
        f"say which columns are inputs and outputs, e.g. -u {quote(free[0])} -y {last}; there are "
        f"{listed(free)}"
    )
