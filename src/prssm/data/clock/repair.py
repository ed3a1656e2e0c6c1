"""Rows with time stamps, made ready for a Record: in order, each once, on a grid, without gaps.

    parts = mended(Rows(stamps, u, y), rules, name="log.csv")

gives one or more `Rows` whose stamps are k dt, or says in one line what is wrong and what to do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from prssm.data.clock.grid import Grid, grid_of
from prssm.data.clock.rules import AUTO, TimeRules
from prssm.data.clock.stamps import Stamps
from prssm.foundation.errors import DataError

# a pause longer than so many usual steps (and new steps) is not interpolated over in resampling
_PAUSE = 3.0
Place = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Rows:
    """Time stamps, inputs (T, Du) and outputs (T, Dy) of some rows."""

    stamps: Stamps
    u: np.ndarray
    y: np.ndarray
    dt: float | None = None  # once they are on a grid

    def __len__(self) -> int:
        return len(self.stamps)

    def take(self, rows: slice | np.ndarray) -> Self:
        """Some of the rows, or all in another order."""
        return type(self)(self.stamps[rows], self.u[rows], self.y[rows], self.dt)


def mended(rows: Rows, rules: TimeRules, name: str, place: Place) -> list[Rows]:
    """The rows on a grid: one part, or several where gaps split them."""
    known = np.isfinite(rows.stamps.seconds)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise DataError(f"{name}: the time is missing at {place(row)}; leave that row out")
    rows = _in_order(rows, rules, name, place=place)
    rows = _each_once(rows, rules, name, place=place)
    if len(rows) < 2:
        return [rows]
    if rules.resample is not None:
        return _resampled(rows, rules, name)
    grid = checked_grid(rows.stamps.seconds, name, place)
    return _without_gaps(rows, grid, rules, name=name, place=place)


def checked_grid(seconds: np.ndarray, name: str, place: Place) -> Grid:
    """The grid of stamps in order, or the line that says where they leave it."""
    grid = grid_of(seconds)
    if not grid.regular:
        row = min(max(grid.worst, 1), len(seconds) - 1)
        if len(grid.gaps):
            row = int(grid.gaps[0]) + 1
        step = seconds[row] - seconds[row - 1]
        raise DataError(
            f"{name}: time stamps are irregular: the usual step is "
            f"{float(np.median(np.diff(seconds))):.6g} s, from {place(row - 1)} to {place(row)} it "
            f"is {step:.6g}; --resample auto puts the rows on a constant rate (in Python "
            "resample='auto')"
        )
    return grid


def _in_order(rows: Rows, rules: TimeRules, name: str, *, place: Place) -> Rows:
    seconds = rows.stamps.seconds
    back = np.flatnonzero(np.diff(seconds) < 0)
    if not len(back):
        return rows
    if rules.sort:
        return rows.take(np.argsort(seconds, kind="stable"))
    row = int(back[0]) + 1
    raise DataError(
        f"{name}: time goes back at {place(row)} (by {seconds[row - 1] - seconds[row]:.6g} s; "
        f"{_count(len(back), 'such row')}); --sort puts the rows in order (in Python sort=True)"
    )


def _each_once(rows: Rows, rules: TimeRules, name: str, *, place: Place) -> Rows:
    seconds = rows.stamps.seconds
    same = np.flatnonzero(np.diff(seconds) == 0)
    if not len(same):
        return rows
    if rules.duplicates == "error":
        if 2 * len(same) >= len(seconds):
            raise DataError(
                f"{name}: {len(same)} of {len(seconds)} rows have the time of the row before: the "
                "stamps are coarser than the rows; give the sampling time instead, e.g. --dt 0.1"
            )
        raise DataError(
            f"{name}: {place(int(same[0]) + 1)} has the time of the row before it "
            f"({_count(len(same), 'such row')}); --duplicates mean or first keeps one row of each "
            "(in Python duplicates='mean')"
        )
    first = np.append(True, np.diff(seconds) > 0)
    kept = rows.take(first)
    if rules.duplicates == "first":
        return kept
    group = np.cumsum(first) - 1
    return Rows(kept.stamps, _means(rows.u, group), _means(rows.y, group))


def _means(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Means over the rows of each group; missing values do not count."""
    known = np.isfinite(values)
    sums = np.zeros((group[-1] + 1, values.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, group, np.where(known, values, 0.0))
    np.add.at(counts, group, known)
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def _without_gaps(
    rows: Rows, grid: Grid, rules: TimeRules, *, name: str, place: Place
) -> list[Rows]:
    gaps = grid.gaps
    placed = Rows(rows.stamps, rows.u, rows.y, grid.dt)
    if not len(gaps):
        return [placed]
    if rules.gaps == "split":
        edges = [0, *(int(row) + 1 for row in gaps), len(rows)]
        pairs = pairwise(edges)
        return [placed.take(slice(begin, end)) for begin, end in pairs if end - begin > 1]
    if rules.gaps == "fill":
        return [_filled(placed, grid)]
    row = int(gaps[0])
    missing = int(np.diff(grid.places)[row]) - 1
    raise DataError(
        f"{name}: {_count(missing, 'row')} missing after {place(row)} (the usual step is "
        f"{grid.dt:.6g} s; {_count(len(gaps), 'gap')}); --gaps split makes experiments of the "
        "parts, --gaps fill adds rows with missing outputs (in Python gaps='split')"
    )


def _filled(rows: Rows, grid: Grid) -> Rows:
    """Rows at every place: inputs on straight lines between known ones, new outputs missing."""
    count = int(grid.places[-1]) + 1
    u = _interpolated(np.arange(count), grid.places, rows.u)
    y = np.full((count, rows.y.shape[1]), np.nan)
    y[grid.places] = rows.y
    every = rows.stamps.at(rows.stamps.seconds[0] + grid.dt * np.arange(count))
    return Rows(every, u, y, grid.dt)


def _interpolated(at: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    columns = [np.interp(at, known, column) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((len(at), 0))


def _resampled(rows: Rows, rules: TimeRules, name: str) -> list[Rows]:
    """On a new constant rate; pauses stay pauses, which the rule for gaps then treats."""
    steps = np.diff(rows.stamps.seconds)
    usual = float(np.median(steps))
    dt = usual if rules.resample == AUTO else float(rules.resample or usual)
    pauses = np.flatnonzero(steps > _PAUSE * max(usual, dt))
    if len(pauses) and rules.gaps == "error":
        raise DataError(
            f"{name}: a pause of {steps[pauses[0]]:.6g} s (the usual step is {usual:.6g} s; "
            f"{_count(len(pauses), 'pause')}) cannot be resampled; --gaps split makes experiments "
            "of the parts, --gaps fill leaves their outputs missing (in Python gaps='split')"
        )
    edges = [0, *(int(row) + 1 for row in pauses), len(rows)]
    pairs = pairwise(edges)
    parts = [rows.take(slice(begin, end)) for begin, end in pairs if end - begin > 1]
    again = [_on_grid(part, dt, usual) for part in parts]
    again = [part for part in again if len(part) > 1]
    if not again:
        raise DataError(f"{name}: fewer than 2 rows are left at a step of {dt:.6g} s")
    return again if rules.gaps != "fill" else [_joined(again, dt)]


def _on_grid(rows: Rows, dt: float, usual: float) -> Rows:
    """Rows at every dt from the first stamp on.

    Where that is slower than the recording, inputs and outputs pass the same low-pass filter, so
    that nothing fast comes back as something slow.
    """
    from scipy.signal import resample_poly

    seconds = rows.stamps.seconds
    fine = max(1, int(np.ceil(dt / usual - 1e-6)))
    count = int(np.floor((seconds[-1] - seconds[0]) / dt + 1e-9)) + 1
    at = seconds[0] + np.arange((count - 1) * fine + 1) * (dt / fine)
    u = _interpolated(at, seconds, rows.u)
    y, known = _known_outputs(at, seconds, rows.y, reach=1.5 * max(usual, dt / fine))
    if fine > 1 and count > 1:
        u = resample_poly(u, 1, fine, axis=0, padtype="line")
        y = resample_poly(y, 1, fine, axis=0, padtype="line")
    y = np.where(known[::fine], y, np.nan)
    return Rows(rows.stamps.at(at[::fine]), u, y, dt)


def _known_outputs(
    at: np.ndarray, seconds: np.ndarray, y: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Outputs on straight lines, and whether a measurement is near enough to say so."""
    values = np.zeros((len(at), y.shape[1]))
    known = np.zeros_like(values, dtype=bool)
    for column in range(y.shape[1]):
        measured = np.isfinite(y[:, column])
        if not measured.any():
            continue
        stamps = seconds[measured]
        values[:, column] = np.interp(at, stamps, y[measured, column])
        after = np.clip(np.searchsorted(stamps, at), 0, len(stamps) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.minimum(np.abs(stamps[after] - at), np.abs(at - stamps[before]))
        known[:, column] = nearest <= reach
    return values, known


def _joined(parts: list[Rows], dt: float) -> Rows:
    """Parts on one grid, the pauses between them filled with rows whose outputs are missing."""
    origin = parts[0].stamps.seconds[0]
    places = [np.round((part.stamps.seconds - origin) / dt).astype(np.int64) for part in parts]
    joined = Rows(
        parts[0].stamps.at(np.concatenate([part.stamps.seconds for part in parts])),
        np.concatenate([part.u for part in parts]),
        np.concatenate([part.y for part in parts]),
        dt,
    )
    return _filled(joined, Grid(dt, np.concatenate(places), 0.0, 0))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"
