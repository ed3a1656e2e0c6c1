"""Drift: an output that goes up or down over the recording, for no reason that the inputs give."""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked
from prssm.data.advice.note import Note
from prssm.data.record import Record

_MEMORIES = (1.0, 4.0, 16.0, 64.0)  # rows over which inputs are remembered
_CERTAIN = 6.0  # standard errors of a slope
_LARGE = 0.3  # deviations of the output that a drift amounts to, over the recording
_FEWEST = 100
_MOST = 50_000  # rows that are looked at


def drift(looked: Looked) -> Iterator[Note]:
    """Outputs with a trend in the longest record."""
    number, record = looked.longest
    if len(record) < _FEWEST:
        return
    for i, name in enumerate(record.output_names):
        found = trend_of(record, i)
        if found is None:
            continue
        total, certain, spread = found
        if certain < _CERTAIN or abs(total) < _LARGE * spread:
            continue
        yield Note(
            "drift",
            name,
            f"output {name!r} drifts by {total:.3g} over {looked.spell(len(record))}, "
            f"{abs(total) / spread:.2g} of its deviations, and no input explains it",
            "take the trend out (detrend=linear), or name an input that causes it",
            step="detrend=linear",
            record=number,
        )


def trend_of(record: Record, output: int) -> tuple[float, float, float] | None:
    """Total change over a record, its size in standard errors, and the output's deviation.

    A line beside inputs, their squares and their past, by least squares; the error counts only as
    many rows as are independent.
    """
    step = max(1, len(record) // _MOST)
    y = record.y[::step, output]
    known = np.isfinite(y)
    if known.sum() < _FEWEST or not y[known].std() > 0.0:
        return None
    time = np.linspace(-0.5, 0.5, len(y))
    others = _remembered(record.u[::step])
    table = np.column_stack([np.ones(len(y)), others])[known]
    # what the inputs do not say of the line, and of the output
    line = time[known] - table @ np.linalg.lstsq(table, time[known], rcond=1e-8)[0]
    left = y[known] - table @ np.linalg.lstsq(table, y[known], rcond=1e-8)[0]
    size = float(line @ line)
    if size < 1e-6 * float(time @ time):
        return None  # the inputs go up all the time themselves
    slope = float(line @ left) / size
    rest = left - slope * line
    error = np.sqrt(float(rest @ rest) / len(rest) / size * _dependence(rest))
    return slope, abs(slope) / max(error, 1e-300), float(y[known].std())


def _remembered(u: np.ndarray) -> np.ndarray:
    """Inputs and their squares, averaged over some lengths of the past, (T, ..)."""
    from scipy.signal import lfilter

    spread = u.std(axis=0)
    scaled = (u - u.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    both = np.concatenate([scaled, scaled**2], axis=1)
    parts = []
    for memory in _MEMORIES:
        pole = np.exp(-1.0 / memory)
        start = pole * both[:1]
        parts.append(lfilter([1.0 - pole], [1.0, -pole], both, axis=0, zi=start)[0])
    return np.concatenate(parts, axis=1)


def _dependence(rest: np.ndarray) -> float:
    """How many rows make one independent one: 1 plus twice the sum of correlations."""
    longest = len(rest) // 4
    spectrum = np.abs(np.fft.rfft(rest - rest.mean(), 2 * len(rest))) ** 2
    correlation = np.fft.irfft(spectrum)[:longest]
    if not correlation[0] > 0.0:
        return 1.0
    correlation = correlation / correlation[0]
    below = np.flatnonzero(correlation < 0.05)
    end = int(below[0]) if len(below) else longest
    return max(1.0, 1.0 + 2.0 * float(correlation[1:end].sum()))
