"""Output-error identification.

The linear system whose free run over the training inputs has the smallest error.

Minimises sum_t |y[t] - yhat[t]|^2 over A, B, C, D, an output offset and one first state for each
record, by Levenberg-Marquardt with analytic sensitivities from several subspace starts. All but
the poles and C enter linearly: they are solved for exactly, and projected out of the Jacobian; see
`projection`.

Scaled data have mean zero, so the offset is small; but an offset and a slow mode together are a
ramp, which fits the drifts of the training data and nothing else. Hence a prior: offset ~ N(0,
OFFSET_STD^2) against errors of unknown size, that is, the sum of squares is multiplied by 1 +
|offset|^2 / (OFFSET_STD^2 count).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from scipy.linalg import block_diag

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.projection import OFFSET_STD, Data, Projected, Search
from prssm.linear.sections import Sections
from prssm.linear.subspace import Subspaces
from prssm.linear.system import MAX_RADIUS, LinearSystem

_ITERATIONS = 30
_EXACT = 1e-11  # an error that is rounding alone
_PERTURBATION = 0.1  # of A and C in normalised coordinates, for the random starts
_ROUND = 5  # steps of a race before those behind fall out
_FASTER = 4.0  # times what it gained in the last round, by which a search may catch up
_SAME = 1e-7  # relative difference of errors by which two searches have become one
_MORE_POLES = (0.9, 0.5, -0.5)  # of a mode beside a system of smaller order


class Identification:
    """Finds systems of any order for the same scaled records.

    It keeps what all orders have in common.

    A search is a race: `starts` of the best subspace estimates are improved a few steps at a time;
    those that will not catch up with the best, and those that have become the same, fall out. Then
    `random_starts` perturbations of the best do the same.

    Once `enough` says so (a budget of time ends), a search ends with the steps that it is taking.
    """

    def __init__(
        self, records: Sequence[Record], enough: Callable[[], bool] = lambda: False
    ) -> None:
        self.records = records
        self._enough = enough
        self._data = Data(records)
        self._subspaces = Subspaces(records)

    def best(
        self,
        order: int,
        *,
        starts: int = 4,
        random_starts: int = 4,
        max_radius: float = MAX_RADIUS,
        seed: int = 0,
        near: Sequence[LinearSystem] = (),
    ) -> LinearSystem:
        """The best system of the given order.

        Its coordinates have uncorrelated states of unit variance.

        No pole lies outside `max_radius`. The systems `near`, of at most this order, are more to
        start from.
        """
        best = self._race(self._starts(order, near), starts, max_radius)
        if random_starts and np.isfinite(best.objective) and not self._enough():
            middle = best.system().normalised(self.records)
            random = np.random.default_rng(seed)
            others = [_perturbed(middle, random) for _ in range(random_starts)]
            best = min(
                best, self._race(others, random_starts, max_radius), key=lambda one: one.objective
            )
        if not np.isfinite(best.objective):
            raise TrainingError(
                f"linear: no start of order {order} gave a finite error; try a smaller order"
            )
        return best.system().normalised(self.records)

    def improved(
        self, systems: Sequence[LinearSystem], *, max_radius: float = MAX_RADIUS
    ) -> LinearSystem:
        """What a search finds from the best of these systems, which have the same order."""
        found = self._race([(one.A, one.C) for one in systems], 1, max_radius)
        if not np.isfinite(found.objective):
            raise TrainingError("linear: no system to start from gave a finite error")
        return found.system().normalised(self.records)

    def glance(self, order: int, max_radius: float = MAX_RADIUS) -> LinearSystem:
        """The best subspace estimate of the given order as it is: a system for little time."""
        found = self._ranked(self._subspaces.dynamics(order), max_radius)
        if not np.isfinite(found[0].objective):
            raise TrainingError(f"linear: no subspace of order {order} gave a finite error")
        return found[0].system().normalised(self.records)

    def _ranked(
        self, candidates: Iterable[tuple[np.ndarray, np.ndarray]], max_radius: float
    ) -> list[Projected]:
        """The candidates (A, C) with all else that a system has, the smallest error first.

        Some have states that the data cannot tell apart: what else they have is not determined.
        """
        found: list[Projected] = []
        for A, C in candidates:
            with suppress(np.linalg.LinAlgError):
                found.append(Projected(Sections.of(A, C).within(max_radius), self._data))
        if not found:
            raise TrainingError("linear: the data determine no system of this order")
        return sorted(found, key=lambda one: one.objective)

    def _race(
        self, candidates: Iterable[tuple[np.ndarray, np.ndarray]], starts: int, max_radius: float
    ) -> Projected:
        """The best that comes of the `starts` candidates (A, C) with the smallest errors."""
        found = self._ranked(candidates, max_radius)
        searches = [Search(one, max_radius) for one in found[:starts]]
        enough = _EXACT**2 * self._data.count
        for _ in range(0, _ITERATIONS, _ROUND):
            for search in searches:
                search.advance(_ROUND, enough)
            searches = still_in_the_race(searches)
            if all(search.done for search in searches) or self._enough():
                break
        return searches[0].best

    def _starts(
        self, order: int, near: Sequence[LinearSystem]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Systems to start the search from.

        Subspace estimates, a chain of real modes from slow to fast for records too short for any,
        and systems nearby with modes beside them.
        """
        yield from self._subspaces.dynamics(order)
        outputs = self._data.outputs
        yield np.diag(np.linspace(0.95, 0.3, order)), np.ones((outputs, order))
        for system in near:
            more = order - system.order
            for pole in _MORE_POLES if more else (0.0,):
                A = block_diag(system.A, np.diag(pole ** np.arange(1, more + 1)))
                yield A, np.concatenate([system.C, np.ones((outputs, more))], axis=1)


def still_in_the_race(searches: Sequence[Search]) -> list[Search]:
    """The best search first, then those that may still overtake it."""
    ranked = sorted(searches, key=lambda one: one.best.objective)
    leader = ranked[0].best.objective
    kept = ranked[:1]
    for search in ranked[1:]:
        behind = search.best.objective - leader
        if not search.done and _SAME * leader < behind < _FASTER * search.gain:
            kept.append(search)
    return kept


def identify(
    records: Sequence[Record],
    order: int,
    *,
    starts: int = 4,
    random_starts: int = 4,
    max_radius: float = MAX_RADIUS,
    seed: int = 0,
) -> LinearSystem:
    """The best system of one order for scaled records; see `Identification.best`."""
    return Identification(records).best(
        order, starts=starts, random_starts=random_starts, max_radius=max_radius, seed=seed
    )


def _perturbed(system: LinearSystem, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    A = system.A + _PERTURBATION * random.standard_normal(system.A.shape)
    return A, system.C + _PERTURBATION * random.standard_normal(system.C.shape)


def squared_error(system: LinearSystem, records: Sequence[Record]) -> float:
    """Sum of squared errors of the free runs, over what was measured.

    Each starts from its best first state.
    """
    return sum(float(np.sum(system.nearest_run(record)[1] ** 2)) for record in records)


def objective(system: LinearSystem, records: Sequence[Record]) -> float:
    """The squared error, times the factor by which the prior makes a large offset dear."""
    return squared_error(system, records) * (
        1.0 + float(np.sum(system.offset**2)) / (OFFSET_STD**2 * measured(records))
    )


def measured(records: Sequence[Record]) -> int:
    """How many values were measured."""
    return sum(int((~np.isnan(record.y)).sum()) for record in records)
