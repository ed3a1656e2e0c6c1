"""Trains a network on its free runs over whole records, by Levenberg-Marquardt.

The objective is the mean square error and a prior around the start, n times

    |e|^2 / n + rho |theta - theta_0|^2,  rho = weight * |e|^2 / n^2:

the posterior of a Gaussian prior of unit deviation (and `weight` 1) where the size of the errors is
not known; errors that are correlated in time count for fewer, so that `weight` is more. Every
record has a first state of its own, which is eliminated from the equations.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.dynamics.networks.damped_step import damped_step
from prssm.dynamics.networks.equations import equations, free_run
from prssm.dynamics.networks.system import NetworkSystem, Shape

_FIRST_DAMPING = 1e-2
_LEAST_DAMPING = 1e-10
_MOST_DAMPING = 1e8
_LESS = 5.0  # by which damping falls after a step
_MORE = 4.0  # and rises where one fails
_SMALL = 1e-4  # gain, relative to the objective, below which a step is small
_SMALL_STEPS = 4  # so many in a row end the search


class Point(NamedTuple):
    """Parameters and first states (R, Dx) with the sum of squared errors; infinite: lost."""

    row: np.ndarray
    firsts: np.ndarray
    squares: float


class Paused(NamedTuple):
    """How far a search was that was told to stop: steps left, small ones in a row, damping."""

    left: float
    small: float
    damping: float


class Search:
    """One search on some scaled records: `run` improves `best` step by step."""

    def __init__(
        self, records: Sequence[Record], start: NetworkSystem, firsts: np.ndarray, weight: float
    ) -> None:
        """`firsts` (R, Dx) are first states to begin with; `weight` is that of the prior."""
        self.records = records
        self.shape: Shape = start.shape
        self.weight = weight
        self.middle = start.row()
        self.count = sum(int((~np.isnan(record.y)).sum()) for record in records)
        self.best = self._at(self.middle, firsts)
        self._damping = _FIRST_DAMPING

    @property
    def system(self) -> NetworkSystem:
        return NetworkSystem.of_row(self.best.row, self.shape)

    def run(self, steps: int, go_on: Callable[[], bool] = lambda: True) -> Paused | None:
        """So many steps, or until they gain little or `go_on` says no: then where it stopped."""
        return self._run(steps, 0, go_on)

    def resume(
        self, best: tuple[np.ndarray, np.ndarray], paused: Paused, go_on: Callable[[], bool]
    ) -> Paused | None:
        """Go on with an earlier search from the same start.

        `best` are the parameters and first states that it had found.
        """
        self.best = self._at(*best)
        self._damping = paused.damping
        return self._run(int(paused.left), int(paused.small), go_on)

    def _run(self, steps: int, small: int, go_on: Callable[[], bool]) -> Paused | None:
        for taken in range(steps):
            if not np.isfinite(self.best.squares):
                return None
            if not go_on():
                return Paused(steps - taken, small, self._damping)
            gain = self._step()
            small = small + 1 if gain < _SMALL else 0
            if gain == 0.0 or small == _SMALL_STEPS:
                return None
        return None

    def _at(self, row: np.ndarray, firsts: np.ndarray) -> Point:
        system = NetworkSystem.of_row(row, self.shape).within()
        row = system.row()
        squares = 0.0
        for record, first in zip(self.records, firsts, strict=True):
            run = free_run(np.append(row, first), self.shape, record.u)
            if run is None:
                return Point(row, firsts, np.inf)
            squares += float(np.nansum((run[1] - record.y) ** 2))
        return Point(row, firsts, squares)

    def _prior(self, point: Point) -> float:
        """Rho n: the precision of the prior beside a sum of squares."""
        return self.weight * point.squares / max(self.count, 1)

    def _objective(self, point: Point, precision: float) -> float:
        away = np.sum((point.row - self.middle) ** 2) + np.sum(point.firsts**2)
        return point.squares + precision * float(away)

    def _step(self) -> float:
        """One step; its gain relative to the objective, 0 where none lowers it."""
        now = self.best
        precision = self._prior(now)
        local = self._equations(now, precision)
        before = self._objective(now, precision)
        while local is not None and self._damping < _MOST_DAMPING:
            step = damped_step(*local, self.shape.shared, self._damping)
            trial = now if step is None else self._at(now.row - step[0], now.firsts - step[1])
            after = self._objective(trial, precision)
            if after < before:
                self.best = trial
                self._damping = max(self._damping / _LESS, _LEAST_DAMPING)
                return (before - after) / before
            self._damping *= _MORE
        return 0.0

    def _equations(self, now: Point, precision: float) -> tuple[np.ndarray, np.ndarray] | None:
        """J'J (R, size, size) and J'e (R, size) of each record with the prior's part.

        None where a run is lost or its derivative overflows.
        """
        size = self.shape.size
        squares = np.empty((len(self.records), size, size))
        slopes = np.empty((len(self.records), size))
        for number, (record, first) in enumerate(zip(self.records, now.firsts, strict=True)):
            parts = equations(np.append(now.row, first), self.shape, record.u, record.y)
            if parts is None or not np.isfinite(parts[0]).all():
                return None
            squares[number], slopes[number], _ = parts
        shared = np.arange(self.shape.shared)
        own = np.arange(self.shape.shared, size)
        squares[:, own, own] += precision
        slopes[:, own] += precision * now.firsts
        squares[0, shared, shared] += precision
        slopes[0, shared] += precision * (now.row - self.middle)
        return squares, slopes
