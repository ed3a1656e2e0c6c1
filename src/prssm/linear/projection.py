"""Output-error fit of sections by variable projection.

Only poles (and C, where there are several outputs) are searched; B, D, the offset and the first
states are solved for.

All normal equations come from products of a few signals, the same for all outputs, so that a step
costs little more than these products. They are scaled and factorised with a small ridge; where the
error is so small that the ridge shows, the solution is refined once.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record
from prssm.linear.algebra.output_maps import output_maps
from prssm.linear.algebra.products import (
    inverse_root,
    product,
    small_product,
    squared,
    wide_product,
)
from prssm.linear.sections import Sections
from prssm.linear.system import LinearSystem

OFFSET_STD = 0.03  # in scaled units: the prior of the offset, see `output_error`
_RIDGES = (1e-14, 1e-12, 1e-10, 1e-7)  # of equations with unit diagonal, tried in turn
_TOLERANCE = 1e-5  # stop when a step lowers the error by less than this fraction, twice in a row
_FIRST_DAMPING = 1e-3
_MAX_DAMPING = 1e5
_LEAST_DAMPING = 1e-9
_TURNS = 2  # times that real poles change partners before a search ends
_ROUNDING = 1e-12  # of the squares of a column
_SMALL = 1e-6  # of the outputs: errors for which the solution is refined


@dataclass(frozen=True, eq=False)
class Run:
    """A record in the form in which the fit reads it, time last."""

    late: np.ndarray  # (Du + 1, T): inputs one row late, and an impulse at row 0
    u: np.ndarray  # (Du, T)
    y: np.ndarray  # (Dy, T), zero where not measured
    known: np.ndarray  # (Dy, T)
    # outputs that are measured at the same rows, and these rows (all: None)
    groups: list[tuple[np.ndarray, np.ndarray | None]]

    @classmethod
    def of(cls, record: Record) -> Self:
        late = np.zeros((record.input_dim + 1, len(record)))
        late[:-1, 1:] = record.u[:-1].T
        late[-1, 0] = 1.0
        known = np.ascontiguousarray(~np.isnan(record.y).T)
        masks, group = np.unique(known, axis=0, return_inverse=True)
        groups = [
            (np.flatnonzero(group.ravel() == index), None if mask.all() else np.flatnonzero(mask))
            for index, mask in enumerate(masks)
        ]
        u = np.ascontiguousarray(record.u.T)
        return cls(late, u, np.where(known, record.y.T, 0.0), known=known, groups=groups)


class _Factor:
    """Inverse Cholesky factor of a positive semi-definite matrix, scaled to a unit diagonal.

    The inverse, because products with it stay on one core; see `products`.
    """

    def __init__(self, matrix: np.ndarray) -> None:
        diagonal = matrix.diagonal()
        floor = 1e-20 * diagonal.max(initial=0.0) + 1e-200
        scale = 1.0 / np.sqrt(np.maximum(diagonal, 0.0) + floor)
        scaled = matrix * scale * scale[:, None]
        for ridge in _RIDGES:
            scaled.flat[:: len(scaled) + 1] += ridge
            with suppress(np.linalg.LinAlgError):
                self.inverse = inverse_root(scaled) * scale
                return
        raise np.linalg.LinAlgError("equations are not positive definite")

    def half(self, right: np.ndarray) -> np.ndarray:
        """What gives right' matrix^-1 right when it is multiplied by itself."""
        return product(self.inverse, right)

    def solve(self, right: np.ndarray) -> np.ndarray:
        return product(self.inverse.T, product(self.inverse, right))


@dataclass(frozen=True, eq=False)
class _Part:
    """One record's signals, its first state's share in the equations, and its errors."""

    run: Run
    states: np.ndarray  # (n, Du + 1, T) as `Sections.respond` gives them
    signals: np.ndarray  # (S, T): states that inputs drive, inputs, one, states of a first state
    factor: _Factor  # of the equations of the first state
    cross: np.ndarray  # (n, P): between the first state and the shared parameters
    x0: np.ndarray
    errors: np.ndarray  # (Dy, T), zero where not measured


class Projected:
    """Sections with the best B, D, offset and first states, and their objective."""

    def __init__(self, sections: Sections, data: "Data", error: float | None = None) -> None:
        """`error`: the sum of squares that is to be expected, for the weight of the prior."""
        self.sections = sections
        self.data = data
        expected = data.power if error is None else error
        self._solve()
        self._weigh(expected)
        if not 0.7 * expected < self.squared_error < 1.4 * expected:
            self._weigh(self.squared_error)

    def _solve(self) -> None:
        """The equations of all that enters linearly, but for the prior."""
        sections = self.sections
        data = self.data
        n = sections.order
        self._maps = output_maps(sections, data.inputs)
        size = (n + data.outputs) * data.inputs + data.outputs
        self._equations = np.zeros((size, size))
        self._records = []
        for run in data.runs:
            states = sections.respond(run.late)
            signals = _signals(states, run)
            own = np.zeros((n, n))
            cross = np.zeros((n, size))
            for outputs, rows in run.groups:
                part = signals if rows is None else signals[:, rows]
                found = self._maps.linear(small_product(part, part), outputs)
                self._equations += found.shared
                cross += found.cross
                own += found.own
            factor = _Factor(own)
            half = factor.half(cross)
            self._equations -= squared(half)
            self._records.append((run, states, signals, factor, cross))

    def _weigh(self, error: float) -> None:
        """Solve with the prior's weight for errors of this size; refine where they are small."""
        self.expected = error
        data = self.data
        outputs = data.outputs
        weight = error / (data.count * OFFSET_STD**2)
        weighted = self._equations.copy()
        at = np.arange(len(weighted) - outputs, len(weighted))
        weighted[at, at] += weight
        self._factor = _Factor(weighted)
        self.shared = np.zeros(len(weighted))
        x0s = [np.zeros(self.sections.order) for _ in data.runs]
        errors = [run.y for run in data.runs]
        for _ in range(2):
            rights = [
                self._maps.right_sides(small_product(signals, each))
                for (_, _, signals, _, _), each in zip(self._records, errors, strict=True)
            ]
            right = np.sum([shared for shared, _ in rights], axis=0)
            right[at] -= weight * self.shared[at]
            for (_, _, _, factor, cross), (_, own) in zip(self._records, rights, strict=True):
                right = right - cross.T @ factor.solve(own)
            change = self._factor.solve(right)
            self.shared = self.shared + change
            for index, ((_, _, _, factor, cross), (_, own)) in enumerate(
                zip(self._records, rights, strict=True)
            ):
                x0s[index] = x0s[index] + factor.solve(own - cross @ change)
            errors = [
                self._errors(run, signals, x0)
                for (run, _, signals, _, _), x0 in zip(self._records, x0s, strict=True)
            ]
            self.squared_error = sum(float(np.vdot(each, each)) for each in errors)
            if not self.squared_error < _SMALL**2 * data.power:
                break
        self.parts = [
            _Part(*record, x0=x0, errors=each)
            for record, x0, each in zip(self._records, x0s, errors, strict=True)
        ]
        offset = self.shared[at]
        self.objective = self.squared_error * (
            1.0 + float(offset @ offset) / (OFFSET_STD**2 * data.count)
        )
        if not np.isfinite(self.objective):
            self.objective = np.inf

    def _errors(self, run: Run, signals: np.ndarray, x0: np.ndarray) -> np.ndarray:
        weights = self._maps.weights(self.shared, x0)
        return np.where(run.known, run.y - wide_product(weights, signals), 0.0)

    def slope(self) -> tuple[np.ndarray, np.ndarray]:
        """Right side J'r and matrix J'J of a Gauss-Newton step in the sections' parameters.

        All that enters linearly has been projected out before.
        """
        sections = self.sections
        inputs = self.data.inputs
        n = sections.order
        several = len(sections.C) > 1
        size = sections.parameters.size
        right = np.zeros(size)
        square = np.zeros((size, size))
        shared_cross = np.zeros((len(self.shared), size))
        whole = np.zeros(size)
        B = self.shared[: n * inputs].reshape(n, inputs)
        for part in self.parts:
            x = sections.driven(part.states, np.concatenate([B, part.x0[:, None]], axis=1))
            slopes = sections.slopes(x)
            if several:
                slopes = np.concatenate([slopes, x])
            own_cross = np.zeros((n, size))
            everything = np.concatenate([part.signals, slopes])
            for outputs, rows in part.run.groups:
                all_rows = everything if rows is None else everything[:, rows]
                products = small_product(all_rows, all_rows[len(part.signals) :])
                found = self._maps.searched(products, outputs)
                square += found.square
                whole += found.square.diagonal()
                shared_cross += found.shared
                own_cross += found.own
            right += self._maps.searched_side(small_product(slopes, part.errors))
            half = part.factor.half(own_cross)
            square -= squared(half)
            shared_cross -= product(part.factor.half(part.cross).T, half)
        half = self._factor.half(shared_cross)
        # what is left of columns that are all but spanned by the others is rounding
        square.flat[:: size + 1] += _ROUNDING * whole
        return right, square - squared(half)

    def system(self) -> LinearSystem:
        sections = self.sections
        n = sections.order
        inputs = self.data.inputs
        outputs = self.data.outputs
        return LinearSystem(
            sections.A,
            self.shared[: n * inputs].reshape(n, inputs),
            sections.C,
            D=self.shared[n * inputs : (n + outputs) * inputs].reshape(outputs, inputs),
            offset=self.shared[len(self.shared) - outputs :],
        )


class Data:
    """Scaled records, ready to be fitted many times."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.runs = [Run.of(record) for record in records]
        self.inputs = records[0].input_dim
        self.outputs = records[0].output_dim
        self.count = sum(int(run.known.sum()) for run in self.runs)
        self.power = sum(float(np.vdot(run.y, run.y)) for run in self.runs)


class Search:
    """Levenberg-Marquardt from one start, which may be stopped and continued."""

    def __init__(self, start: Projected, max_radius: float) -> None:
        self.best = start
        self.max_radius = max_radius
        self.done = not np.isfinite(start.objective)
        self.gain = 0.0  # of the last steps
        self._damping = _FIRST_DAMPING
        self._small_steps = 0
        self._turns = 0

    def advance(self, steps: int, enough: float) -> None:
        """So many steps, or until none lowers the objective or it is below `enough`."""
        before = self.best.objective
        for _ in range(steps):
            if self.done:
                break
            self._step(enough)
            if self.done and not self.best.objective < enough:
                self._change_partners()
        self.gain = before - self.best.objective

    def _step(self, enough: float) -> None:
        best = self.best
        right, square = best.slope()
        curvature = np.maximum(square.diagonal(), 0.0)
        brake = curvature + 1e-6 * curvature.mean() + 1e-30
        at_once = True
        while self._damping < _MAX_DAMPING:
            damped = square + np.diag(self._damping * brake)
            try:
                trial = self._trial(right, damped)
            except np.linalg.LinAlgError:
                trial = best
            if trial.objective < best.objective:
                break
            self._damping *= 10.0
            at_once = False
        else:
            self.done = True
            return
        lower = best.objective - trial.objective
        self._small_steps = self._small_steps + 1 if lower < _TOLERANCE * best.objective else 0
        self.best = trial
        # what was just too little would be so again, and a trial of many channels takes long
        if at_once or best.data.outputs == 1:
            self._damping = max(self._damping / 10.0, _LEAST_DAMPING)
        self.done = self._small_steps == 2 or trial.objective < enough

    def _change_partners(self) -> None:
        """Two real poles become a complex pair in one section only: go on with other partners."""
        sections = self.best.sections
        if self._turns == _TURNS or not sections.has_partners:
            return
        self._turns += 1
        turned = Sections.of(sections.A, sections.C, self._turns % 2).within(self.max_radius)
        try:
            trial = Projected(turned, self.best.data, self.best.squared_error)
        except np.linalg.LinAlgError:  # the data cannot tell such sections apart: nothing changes
            return
        if trial.objective < (1.0 + _TOLERANCE) * self.best.objective:
            self.best = trial
            self.done = False
            self._small_steps = 0
            self._damping = _FIRST_DAMPING

    def _trial(self, right: np.ndarray, damped: np.ndarray) -> Projected:
        """Where the step leads; poles that lie on the limit and would leave move along it."""
        best = self.best
        change = _Factor(damped).solve(right)
        free = best.sections.directions(change, self.max_radius)
        if free is not None and free.shape[1]:
            half = small_product(free.T, damped)
            along = small_product(half, free.T)
            change = free @ _Factor(along).solve(free.T @ right)
        moved = best.sections.moved(change, self.max_radius)
        return Projected(moved, best.data, best.squared_error)


def _signals(states: np.ndarray, run: Run) -> np.ndarray:
    n, channels, length = states.shape
    inputs = channels - 1
    signals = np.empty((n * inputs + inputs + 1 + n, length))
    signals[: n * inputs] = states[:, :inputs].reshape(n * inputs, length)
    signals[n * inputs : (n + 1) * inputs] = run.u
    signals[(n + 1) * inputs] = 1.0
    signals[(n + 1) * inputs + 1 :] = states[:, inputs]
    return signals
