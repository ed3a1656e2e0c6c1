"""The sampling grid k dt + offset of a column of time stamps, found over the whole record.

A step alone may lie (stamps of a 60 Hz log that were rounded to milliseconds are 16 or 17 ms
apart), the whole record does not.
"""

from dataclasses import dataclass

import numpy as np

JITTER = 0.25  # how far a stamp may be from its place on the grid, as a part of dt
MOST_GAPS = 0.1  # a larger share of steps that skip rows is no constant rate
_SKIP = 1.5  # a step longer than so many usual ones skips a place


@dataclass(frozen=True, eq=False)
class Grid:
    """Where each row stands: at `places[i]` (whole numbers from 0) times `dt`, about."""

    dt: float
    places: np.ndarray
    jitter: float  # the largest distance of a stamp from its place, as a part of dt
    worst: int  # the row of that stamp

    @property
    def gaps(self) -> np.ndarray:
        """Rows after which at least one place is empty."""
        return np.flatnonzero(np.diff(self.places) > 1)

    @property
    def regular(self) -> bool:
        """Whether every stamp is near its place, and few places are empty."""
        few = len(self.gaps) <= max(1.0, MOST_GAPS * (len(self.places) - 1))
        return self.jitter <= JITTER and few


def grid_of(seconds: np.ndarray) -> Grid:
    """The grid of stamps that go up from row to row."""
    steps = np.diff(seconds)
    dt = _step_without_gaps(seconds, float(np.median(steps)))
    # only a dt that is known well tells how many rows are missing in a long gap
    places = np.append(0.0, np.cumsum(np.maximum(np.round(steps / dt), 1.0)))
    part = np.zeros(len(seconds), dtype=np.int64)
    dt = _slope(places, seconds, part) or dt
    left = seconds - dt * places
    away = np.abs(left - np.median(left)) / dt
    worst = int(np.argmax(away))
    rounded = _short(dt, _doubt(places, seconds, dt))
    return Grid(rounded, places.astype(np.int64), float(away[worst]), worst)


def _step_without_gaps(seconds: np.ndarray, usual: float) -> float:
    """The common slope of the parts between gaps, in which every row is one step further."""
    part = np.append(0, np.cumsum(np.diff(seconds) > _SKIP * usual))
    slope = _slope(np.arange(len(seconds), dtype=np.float64), seconds, part)
    return slope if slope is not None and 0.5 * usual < slope < 2.0 * usual else usual


def _slope(places: np.ndarray, seconds: np.ndarray, part: np.ndarray) -> float | None:
    """The slope of parallel straight lines, one through the stamps of each part."""
    counts = np.bincount(part)
    x = places - (np.bincount(part, places) / counts)[part]
    t = seconds - (np.bincount(part, seconds) / counts)[part]
    size = float(x @ x)
    return float(x @ t) / size if size > 0.0 else None


def _doubt(places: np.ndarray, seconds: np.ndarray, dt: float) -> float:
    """How well dt is known: rounding of the stamps, spread over the length of the record."""
    left = seconds - dt * places
    left = left - left.mean()
    rounding = float(np.finfo(np.float64).eps * np.abs(seconds).max())
    spread = float(np.sqrt(np.mean(left**2)))
    return 2.0 * (spread + 4.0 * rounding) / max(float(places[-1]), 1.0)


def _short(value: float, doubt: float) -> float:
    """The number with the fewest digits that is as good as this one."""
    for digits in range(1, 17):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= doubt:
            return short
    return value
