"""How many states a linear model should have, and how large its errors are.

Both are judged on held-out training data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.splits import folds, split
from prssm.foundation.errors import TrainingError
from prssm.linear.first_state import InitialState
from prssm.linear.output_error import Identification, identify, measured, squared_error
from prssm.linear.system import MAX_RADIUS, LinearSystem, spectral_radius

# halves: a free run as long as the data is a hard test, and drifts that a short stretch hides show
# in it
FOLDS = 2
RADII = (MAX_RADIUS, 0.98, 0.95)  # limits of the poles, from any memory to twenty samples of it
_LEAST_ROWS = 4  # measured values for each parameter of the largest order that is tried
_PATIENCE = 2  # orders without improvement before the search ends
_FEW = 40  # states times outputs; beyond, a search takes long and only the best start is refined
_JUMP = 0.8  # times the least error so far that an order far beyond it has to reach
_TIE = 0.02  # held-out errors this close, relative to the best, are equal: the simpler model wins
_EXACT = 1e-4  # and so are errors below this fraction of the output's deviation


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors (rows, Dy) of free runs over stretches that the model was not fitted to.

    There is one array for each stretch.
    """

    errors: list[np.ndarray]
    warmup: int
    max_radius: float  # the limit under which the models were fitted
    radius: float  # the largest that they have

    @property
    def rms(self) -> float:
        """Root mean square over all stretches and outputs.

        The warm-up is included, as a test counts it.
        """
        return float(np.sqrt(np.nanmean(np.concatenate(self.errors) ** 2)))

    @property
    def std(self) -> np.ndarray:
        """Root mean square of each output after the warm-up.

        By then the first state's own uncertainty has gone.
        """
        late = np.concatenate(
            [
                error[self.warmup :] if len(error) > 2 * self.warmup else error
                for error in self.errors
            ]
        )
        return np.sqrt(np.nanmean(late**2, axis=0))


class Halves:
    """Free runs of models of any order over stretches that they were not fitted to.

    What was found for one order and one limit of the poles is where the search for the next begins.
    """

    def __init__(self, records: Sequence[Record], warmup: int, starts: int) -> None:
        self.warmup = warmup
        self.starts = starts
        self._outputs = records[0].output_dim
        self._parts = [_Part.of(*split(records, stretches)) for stretches in folds(records, FOLDS)]
        self.usable = bool(self._parts) and all(part.measured for part in self._parts)
        self._near: list[list[LinearSystem]] = [[] for _ in self._parts]

    def hold_out(self, order: int) -> HeldOutErrors | None:
        """Errors under the limit of the poles that serves them best.

        None where the data are too short, or where some output is not measured in what is fitted or
        in what is held out.

        Slow modes that training drifts have suggested do harm in a long free run; whether they do
        is seen here.
        """
        if not self.usable:
            return None
        limits: list[HeldOutErrors] = []
        systems = self._near
        starts = self.starts if order * self._outputs <= _FEW else 1
        for max_radius in RADII:
            if limits and limits[-1].radius <= max_radius:
                continue  # the limit would change nothing
            found = [
                part.identification.best(
                    order, starts=starts, random_starts=0, max_radius=max_radius, near=near
                )
                for part, near in zip(self._parts, systems, strict=True)
            ]
            result = self._run(found, max_radius)
            if result is None:
                return None
            if not limits:
                self._near = [[system] for system in found]
            systems = [[system] for system in found]
            limits.append(result)
        return limits[first_good([result.rms for result in limits])]

    def glance(self, order: int) -> float:
        """The error of subspace estimates, which no search has improved; infinite without any."""
        if not self.usable:
            return np.inf
        try:
            found = [part.identification.glance(order) for part in self._parts]
        except (TrainingError, np.linalg.LinAlgError):
            return np.inf
        result = self._run(found, MAX_RADIUS)
        return result.rms if result else np.inf

    def _run(self, systems: Sequence[LinearSystem], max_radius: float) -> HeldOutErrors | None:
        errors = []
        for part, system in zip(self._parts, systems, strict=True):
            start = InitialState.fit(system, part.fit)
            errors += [
                _free_run_error(system, start, record, warmup=self.warmup)
                for record in part.held_out
            ]
        there = [~np.isnan(error[self.warmup :]) for error in errors]
        if not np.concatenate(there).any(axis=0).all():
            return None
        radius = max(spectral_radius(system.A) for system in systems)
        return HeldOutErrors(errors, self.warmup, max_radius, radius)


class _Part(NamedTuple):
    """What is fitted and what is predicted, centred by the means of what is fitted."""

    identification: Identification
    fit: list[Record]
    held_out: list[Record]
    measured: bool  # whether all outputs are in what is fitted

    @classmethod
    def of(cls, fit: Sequence[Record], held_out: Sequence[Record]) -> Self:
        complete = not np.isnan(np.concatenate([record.y for record in fit])).all(axis=0).any()
        centre = _centring(fit)
        shown = [centre.scale(record) for record in fit]
        return cls(
            Identification(shown), shown, [centre.scale(record) for record in held_out], complete
        )


def _centring(records: Sequence[Record]) -> Scaler:
    """Removes the means of what is fitted.

    The means of all data would tell something of what is held out.
    """
    means = Scaler.fit(records)
    return Scaler(
        means.u_mean, np.ones_like(means.u_mean), means.y_mean, y_std=np.ones_like(means.y_mean)
    )


def _free_run_error(
    system: LinearSystem, start: InitialState, record: Record, warmup: int
) -> np.ndarray:
    x0, _ = start.estimate(system, record.u, record.y[:warmup])
    return record.y - system.simulate(x0, record.u)[0]


def largest_order(records: Sequence[Record]) -> int:
    """The most states that are worth a try.

    When a stretch is held out, what is left to fit to must still outnumber the parameters.
    """
    per_state = records[0].input_dim + records[0].output_dim + 1
    return max(1, measured(records) // (_LEAST_ROWS * per_state))


class Judged(NamedTuple):
    """An order, its error, and the held-out errors that this is taken from.

    There are none of these where the data are too short.
    """

    order: int
    error: float
    held_out: HeldOutErrors | None


def judge_orders(
    records: Sequence[Record],
    orders: Sequence[int],
    warmup: int,
    starts: int,
    report: Callable[[int, float], None] = lambda order, error: None,
) -> list[Judged]:
    """The `orders` (ascending) up to where more states stop helping, and promising larger ones.

    A resonance needs two states, and several that are alike help only together: where the search
    has ended, a glance at larger orders tells whether to go on.
    """

    halves = Halves(records, warmup, starts)

    def judge(order: int) -> Judged:
        try:
            held_out = halves.hold_out(order)
            error = held_out.rms if held_out else information(records, order, starts)
        except TrainingError:  # the data determine no system of this order
            held_out = None
            error = np.inf
        report(order, error)
        return Judged(order, error, held_out)

    judged = until_no_better(judge, orders)
    # resonances come in pairs of states, so half of the orders will do
    most = _FEW // records[0].output_dim
    rest = [order for order in orders if judged[-1].order < order <= most and order % 2 == 0]
    return further(judge, judged, {order: halves.glance(order) for order in rest})


def until_no_better(judge: Callable[[int], Judged], orders: Sequence[int]) -> list[Judged]:
    """What is judged of the orders in turn.

    It ends when some in a row are no better than the best before them.
    """
    judged: list[Judged] = []
    for index, order in enumerate(orders):
        judged.append(judge(order))
        if index - int(np.argmin([one.error for one in judged])) >= _PATIENCE:
            break
    return judged


def further(
    judge: Callable[[int], Judged], judged: Sequence[Judged], glances: Mapping[int, float]
) -> list[Judged]:
    """What was judged, and larger orders from the most promising glance on while they gain much.

    Much, because a few per cent of an error on held-out data are chance, and many states are not
    free.
    """
    found = list(judged)
    for order in sorted(glances, key=lambda order: glances[order]):
        least = min(one.error for one in found)
        if not glances[order] < least:
            break
        one = judge(order)
        if not one.error < _JUMP * least:
            break
        found.append(one)
    return sorted(found, key=lambda one: one.order)


def best(judged: Sequence[Judged]) -> Judged:
    """The smallest order whose error is as good as the best."""
    return judged[first_good([one.error for one in judged])]


def first_good(errors: Sequence[float]) -> int:
    """Index of the first error that is as good as the smallest.

    The first of all where none is finite.
    """
    return next(iter(as_good(errors, _TIE)), 0)


def as_good(errors: Sequence[float], tie: float) -> list[int]:
    """Indices of all errors within `tie` of the smallest, relative to it.

    One that is not finite is no candidate.
    """
    finite = [error if np.isfinite(error) else np.inf for error in errors]
    limit = min(finite) * (1.0 + tie) + _EXACT
    return [index for index, error in enumerate(finite) if np.isfinite(error) and error <= limit]


def information(records: Sequence[Record], order: int, starts: int) -> float:
    """An error inflated for the number of parameters, for data too short to hold out.

    By Bayes's criterion, as a deviation.
    """
    system = identify(records, order, starts=starts, random_starts=0)
    count = measured(records)
    rms = np.sqrt(squared_error(system, records) / count)
    return float(rms * np.exp(0.5 * parameters(system, len(records)) * np.log(count) / count))


def parameters(system: LinearSystem, records: int) -> int:
    """The number of free parameters.

    Those that no change of the state's coordinates can undo, and the first states.
    """
    outputs, inputs = system.D.shape
    return system.order * (inputs + outputs + records) + outputs * (inputs + 1)
