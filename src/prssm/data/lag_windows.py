"""Records as regression data.

The window of the last outputs and inputs, and the output that followed it.

A window is [y_{t-1}, .., y_{t-L}, u_{t-1}, .., u_{t-L}], newest first; its target is y_t.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError

LARGEST_CHOICE = 10  # lags that the automatic choice tries


@dataclass(frozen=True, eq=False)
class Regression:
    """Windows (N, L (Dy + Du)) and targets (N, Dy)."""

    x: np.ndarray
    y: np.ndarray

    def thinned(self, most: int | None, random: np.random.Generator) -> "Regression":
        """At most so many rows, drawn without replacement and kept in order."""
        if most is None or len(self.x) <= most:
            return self
        rows = np.sort(random.choice(len(self.x), most, replace=False))
        return Regression(self.x[rows], self.y[rows])


def lagged(values: np.ndarray, lags: int) -> np.ndarray:
    """For t = L .. T-1 the last L rows before t, newest first, side by side: (T - L, L D)."""
    length = len(values)
    return np.concatenate([values[lags - k : length - k] for k in range(1, lags + 1)], axis=1)


def regression(records: Sequence[Record], lags: int, first: int | None = None) -> Regression:
    """All windows in which nothing is missing, with the outputs that followed.

    Targets begin at row `first` (at least `lags`) of each record.
    """
    first = lags if first is None else first
    parts = [
        (
            np.concatenate([lagged(record.y, lags), lagged(record.u, lags)], axis=1)[
                first - lags :
            ],
            record.y[first:],
        )
        for record in records
        if len(record) > first
    ]
    if not parts:
        longest = max(len(record) for record in records)
        raise DataError(
            f"{records[0].name}: the longest record has {longest} rows; lags={lags} needs at least "
            f"{first + 1}"
        )
    x, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    whole = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    if not whole.any():
        raise DataError(
            f"{records[0].name}: no {lags + 1} rows in sequence without a missing output; use "
            "fewer lags"
        )
    return Regression(x[whole], y[whole])


def choose_lags(records: Sequence[Record]) -> int:
    """The window whose linear one-step model has the least Schwarz criterion.

    All windows are judged on the same targets.

    A linear model is judged because it is exact and instant; the criterion looks at training data
    only.
    """
    longest = max(len(record) for record in records)
    width = records[0].output_dim + records[0].input_dim
    rows = sum(len(record) for record in records)
    largest = max(1, min(LARGEST_CHOICE, longest // 4, rows // (4 * width)))
    while largest > 1 and not _has_windows(records, largest):
        largest -= 1
    criteria = [_schwarz(regression(records, lags, largest)) for lags in range(1, largest + 1)]
    return int(np.argmin(criteria)) + 1


def _has_windows(records: Sequence[Record], lags: int) -> bool:
    try:
        return len(regression(records, lags).x) > 2 * lags * (
            records[0].output_dim + records[0].input_dim
        )
    except DataError:
        return False


def _schwarz(data: Regression) -> float:
    """N log det of the residuals' covariance plus log N for each coefficient.

    An intercept counts, too.
    """
    design = np.column_stack([data.x, np.ones(len(data.x))])
    residual = data.y - design @ np.linalg.lstsq(design, data.y, rcond=None)[0]
    rows, outputs = data.y.shape
    covariance = residual.T @ residual / rows + 1e-12 * np.diag(data.y.var(axis=0) + 1e-300)
    return float(rows * np.linalg.slogdet(covariance)[1] + np.log(rows) * outputs * design.shape[1])
