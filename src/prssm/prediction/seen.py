"""What a model has seen in training, and how far from it a run goes.

    seen = Seen.fit(paths, inputs, input_range=..., output_range=...)   # of training records
    seen.distance(path, u, mean)                                        # (T,): 0 inside

A path is what a model remembers, row by row: its states where it has any. Path and inputs of the
training rows are a cloud of points; a row of a run is as far outside as its nearest point of the
cloud is farther away than it is for training rows that are taken out of the cloud. One unit is a
standard deviation of the training data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

_STILL = 1e-9  # the deviation of a column that never moves
_VARIANCE = 0.999  # of the rows, which the axes must explain
_POINTS = 300  # that are kept of a cloud
_CANDIDATES = 3000  # rows among which they are chosen
_SHARE = 0.99  # of training rows that are inside when their own stretch is taken out
_LEAST = 0.25  # deviations from a point of the cloud that are never outside
_STRETCHES = 10  # that are taken out in turn
_STRETCH_ROWS = 40  # of a stretch, at least
_OUTPUT_SLACK = 0.05  # of an output's range, by which a run may be beyond it
_ROUNDING = 1e-9  # of an input's range: the same number, written and read again
AWAY = 1e100  # so large that nothing is near it, and its square is finite
_BLOCK = 1024  # rows of a run whose distances are computed at once


@dataclass(frozen=True, eq=False)
class Seen:
    """The cloud of training rows, (points, axes), and the ranges of inputs and outputs, (2, ..)."""

    points: np.ndarray
    centre: np.ndarray  # of path and inputs, (D,)
    axes: np.ndarray  # from there to the coordinates of the points, (D, axes)
    limit: np.ndarray  # (): a nearest point that is farther away is outside
    input_range: np.ndarray
    output_range: np.ndarray

    @classmethod
    def fit(
        cls,
        paths: Sequence[np.ndarray],
        inputs: Sequence[np.ndarray],
        *,
        input_range: np.ndarray,
        output_range: np.ndarray,
    ) -> Self:
        """From paths (T, D) and inputs (T, Du) of training records, and ranges of all rows."""
        rows = np.concatenate(
            [np.concatenate([path, u], axis=1) for path, u in zip(paths, inputs, strict=True)]
        )
        stretch = _stretches([len(path) for path in paths])
        whole = np.isfinite(rows).all(axis=1)
        rows = rows[whole]
        stretch = stretch[whole]
        some = np.linspace(0, len(rows) - 1, min(len(rows), _CANDIDATES)).astype(int)
        centre = rows.mean(axis=0)
        axes = _axes(rows)
        cloud = (rows[some] - centre) @ axes
        kept = _spread_out(cloud, _POINTS)
        return cls(
            points=cloud[kept],
            centre=centre,
            axes=axes,
            limit=np.asarray(_limit(cloud, cloud[kept], stretch[some], stretch[some][kept])),
            input_range=input_range,
            output_range=output_range,
        )

    def distance(self, path: np.ndarray, u: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """How far each row is from what was seen, (T,): 0 inside, else in deviations."""
        rows = (_tamed(np.concatenate([path, u], axis=1)) - self.centre) @ self.axes
        cloud = np.maximum(_nearest(rows, self.points) - self.limit, 0.0)
        return np.maximum(cloud, _beyond(_tamed(mean), self.output_limits))

    def unknown_std(self, mean: np.ndarray) -> np.ndarray:
        """Deviation (T, Dy) around a run's mean of outputs of which the range alone is known.

        Each value of it is as likely as any other.
        """
        low, high = self.output_range
        return np.sqrt((high - low) ** 2 / 12.0 + (_tamed(mean) - 0.5 * (low + high)) ** 2)

    def beyond_inputs(self, u: np.ndarray) -> np.ndarray:
        """How far each row's inputs are beyond the range of the training inputs, (T,)."""
        return _beyond(_tamed(u), self.input_limits)

    @property
    def input_limits(self) -> np.ndarray:
        """(2, Du): inputs between them are inside."""
        return _with_slack(self.input_range, _ROUNDING)

    @property
    def output_limits(self) -> np.ndarray:
        """(2, Dy): outputs of a run between them are inside."""
        return _with_slack(self.output_range, _OUTPUT_SLACK)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """For a model file."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self | None:
        """What `to_arrays` gave; None from a file of an older version, which has none of it."""
        if not arrays:
            return None
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def range_of(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The least and the largest value of each column over all parts, (2, columns)."""
    rows = np.concatenate(list(parts))
    return np.stack([np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)])


def _tamed(values: np.ndarray) -> np.ndarray:
    """The same, but that what is lost or too large to be squared is far away."""
    known = np.asarray(values, dtype=np.float64)
    return np.clip(np.where(np.isnan(known), AWAY, known), -AWAY, AWAY)


def _stretches(lengths: Sequence[int]) -> np.ndarray:
    """The number of the stretch that each row belongs to; neighbours in time belong together."""
    total = sum(lengths)
    count = int(np.clip(total // _STRETCH_ROWS, 2, _STRETCHES))
    if len(lengths) >= count:
        return np.concatenate([np.full(rows, i % count) for i, rows in enumerate(lengths)])
    return np.arange(total) * count // total


def _axes(rows: np.ndarray) -> np.ndarray:
    """Principal axes of the rows, each in units of its deviation, (D, axes).

    Columns that never move are left out, and the last axes, whose moves are little more than the
    noise of sampled states.
    """
    spread = rows.std(axis=0)
    moving = spread > _STILL
    scale = np.eye(rows.shape[1])[:, moving] / np.where(moving, spread, 1.0)[moving]
    if not moving.any():
        return scale
    scaled = (rows - rows.mean(axis=0)) @ scale
    variances, directions = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    variances = variances[::-1]
    kept = int(np.searchsorted(np.cumsum(variances), _VARIANCE * variances.sum())) + 1
    return scale @ directions[:, ::-1][:, :kept] / np.sqrt(variances[:kept])


def _spread_out(points: np.ndarray, count: int) -> np.ndarray:
    """Indices of so many points that are far from each other, so that none is far from them all."""
    if len(points) <= count:
        return np.arange(len(points))
    chosen = [0]
    nearest = np.linalg.norm(points - points[0], axis=1)
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.sort(chosen)


def _limit(rows: np.ndarray, points: np.ndarray, of_row: np.ndarray, of_point: np.ndarray) -> float:
    """How far the nearest point is for most training rows whose stretch is taken out."""
    found = [
        _nearest(rows[of_row == one], points[of_point != one])
        for one in np.unique(of_row)
        if (of_point != one).any()
    ]
    return max(float(np.quantile(np.concatenate(found), _SHARE)), _LEAST) if found else AWAY


def _nearest(rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance of each row to the nearest point."""
    squares = np.sum(points**2, axis=1)
    found = np.empty(len(rows))
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        apart = squares - 2.0 * block @ points.T + np.sum(block**2, axis=1)[:, None]
        found[begin : begin + _BLOCK] = np.sqrt(np.maximum(apart.min(axis=1), 0.0))
    return found


def _with_slack(limits: np.ndarray, part: float) -> np.ndarray:
    """Limits that are farther apart, by a part of the range at both ends."""
    slack = part * np.ptp(limits, axis=0)
    return np.stack([limits[0] - slack, limits[1] + slack])


def _beyond(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """By how much the worst column of each row is beyond its limits; 0 where none is."""
    low, high = limits
    over = np.maximum(low - values, values - high)
    return np.maximum(over.max(axis=1, initial=0.0), 0.0)
