"""Output-error identification: the linear system whose free run over the training inputs has the
smallest error.

Minimises sum_t |y[t] - yhat[t]|^2 over A, B, C, D, an output offset and one first state for each
record, by Levenberg-Marquardt with analytic sensitivities from several subspace starts. The first
states enter linearly: they are solved for exactly, and projected out of the Jacobian (variable
projection), so that many records cost little.

Scaled data have mean zero, so the offset is small; but an offset and a slow mode together are a
ramp, which fits the drifts of the training data and nothing else. Hence a prior: offset ~ N(0,
OFFSET_STD^2) against errors of unknown size, that is, the sum of squares is multiplied by 1 +
|offset|^2 / (OFFSET_STD^2 count).
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.linalg import block_diag

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.projection import OFFSET_STD, Data, Projected, Search
from prssm.linear.sections import Sections
from prssm.linear.subspace import Subspaces
from prssm.linear.system import MAX_RADIUS, LinearSystem, propagate, spectral_radius, stabilised

_ITERATIONS = 30
_TOLERANCE = 1e-5  # stop when a step lowers the error by less than this fraction
_EXACT = 1e-11  # or when the error is rounding alone
_FIRST_DAMPING = 1e-3
_MAX_DAMPING = 1e5
_PERTURBATION = 0.1  # of A and C in normalised coordinates, for the random starts
_ROUND = 5  # steps of a race before those behind fall out
_FASTER = 4.0  # times what it gained in the last round, by which a search may catch up
_SAME = 1e-7  # relative difference of errors by which two searches have become one
_MORE_POLES = (0.9, 0.5, -0.5)  # of a mode beside a system of smaller order


class Identification:
    """Finds systems of any order for the same scaled records, in a form that keeps what all orders
    have in common.

    A search is a race: `starts` of the best subspace estimates are improved a few steps at a time;
    those that will not catch up with the best, and those that have become the same, fall out. Then
    `random_starts` perturbations of the best do the same.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
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
        """The best system of the given order, in coordinates with uncorrelated states of unit
        variance.

        No pole lies outside `max_radius`. The systems `near`, of at most this order, are more to
        start from.
        """
        best = self._race(self._starts(order, near), starts, max_radius)
        if random_starts and np.isfinite(best.objective):
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

    def _race(
        self, candidates: Iterable[tuple[np.ndarray, np.ndarray]], starts: int, max_radius: float
    ) -> Projected:
        """The best that comes of the `starts` candidates (A, C) with the smallest errors."""
        found = [
            Projected(Sections.of(A, C).within(max_radius), self._data) for A, C in candidates
        ]
        found.sort(key=lambda one: one.objective)
        searches = [Search(one, max_radius) for one in found[:starts]]
        enough = _EXACT**2 * self._data.count
        for _ in range(0, _ITERATIONS, _ROUND):
            for search in searches:
                search.advance(_ROUND, enough)
            searches = still_in_the_race(searches)
            if all(search.done for search in searches):
                break
        return searches[0].best

    def _starts(
        self, order: int, near: Sequence[LinearSystem]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Subspace estimates, a chain of real modes from slow to fast for records too short for
        any, and systems nearby with modes beside them.
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


def _perturbed(
    system: LinearSystem, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    A = system.A + _PERTURBATION * random.standard_normal(system.A.shape)
    return A, system.C + _PERTURBATION * random.standard_normal(system.C.shape)


def squared_error(system: LinearSystem, records: Sequence[Record]) -> float:
    """Sum of squared errors of the free runs, each from its best first state, over what was
    measured.
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


def refine(
    system: LinearSystem, records: Sequence[Record], max_radius: float = MAX_RADIUS
) -> tuple[float, LinearSystem]:
    """Levenberg-Marquardt from a start; returns the error reached and the system. Every system on
    the way is stable.
    """
    error, system = _guarded(system, records, max_radius)
    damping = _FIRST_DAMPING
    small_steps = 0
    enough = _EXACT**2 * measured(records)
    for _ in range(_ITERATIONS):
        equations = _with_prior(
            _equations(system, records), system, squared_error(system, records) / measured(records)
        )
        while damping < _MAX_DAMPING:
            trial_error, trial = _guarded(_step(system, equations, damping), records, max_radius)
            if trial_error < error:
                break
            damping *= 10.0
        else:
            break  # no direction lowers the error: a minimum
        small_steps = small_steps + 1 if error - trial_error < _TOLERANCE * error else 0
        error = trial_error
        system = trial
        damping = max(damping / 10.0, 1e-12)
        if small_steps == 2 or error < enough:
            break
    return error, system


def _guarded(
    system: LinearSystem, records: Sequence[Record], max_radius: float
) -> tuple[float, LinearSystem]:
    """A system and its error; an unstable one is drawn back, and B, D and the offset are adapted to
    its new dynamics.
    """
    if spectral_radius(system.A) <= max_radius:
        return objective(system, records), system
    return _with_inputs(system.A, system.C, records, max_radius=max_radius)


def _step(system: LinearSystem, equations: np.ndarray, damping: float) -> LinearSystem:
    """Solve R d = r with damping relative to each parameter's curvature; directions that change
    nothing stay put.
    """
    R = equations[:, :-1]
    residual = equations[:, -1]
    curvature = np.sum(R**2, axis=0)
    brake = np.sqrt(damping * (curvature + 1e-6 * curvature.mean() + 1e-30))
    rows = np.concatenate([R, np.diag(brake)])
    change = np.linalg.lstsq(rows, np.concatenate([residual, np.zeros(len(brake))]), rcond=None)[0]
    return _unpack(_pack(system) + change, system)


def linearise(system: LinearSystem, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (M,) of the M measured values from the best first state, and their descent Jacobian
    (M, P).

    The Jacobian is that of the prediction with respect to the packed parameters, with the part that
    a change of the first state can undo projected out. With Z[t+1] = A' Z[t] + C_d' (x[t], u[t])
    one has dy_d[t]/d(A, B) = Z[t].
    """
    order = system.order
    outputs = len(system.C)
    known = ~np.isnan(record.y)
    predicted, x = system.simulate(system.first_state(record), record.u)
    signals = np.concatenate([x, record.u], axis=1)
    drive = np.einsum("dn,ts->ntds", system.C, signals).reshape(order, len(x), -1)
    Z = propagate(system.A.T, drive, np.zeros((order, drive.shape[2])))
    dynamic = (
        Z.reshape(order, len(x), outputs, -1).transpose(1, 2, 0, 3).reshape(len(x), outputs, -1)
    )
    static = np.einsum(
        "de,ts->tdes", np.eye(outputs), np.concatenate([signals, np.ones((len(x), 1))], axis=1)
    )
    jacobian = np.concatenate([dynamic, static.reshape(len(x), outputs, -1)], axis=2)[known]
    left, size, _ = np.linalg.svd(system.free_response(len(x))[known], full_matrices=False)
    left = left[:, size > 1e-10 * size.max(initial=0.0)]
    return (record.y - predicted)[known], jacobian - left @ (left.T @ jacobian)


def _equations(system: LinearSystem, records: Sequence[Record]) -> np.ndarray:
    """The least-squares equations [J r] of all records, compressed to a triangle by QR one record
    at a time.
    """
    triangle = np.zeros((0, _pack(system).size + 1))
    for record in records:
        residual, jacobian = linearise(system, record)
        rows = np.concatenate([jacobian, residual[:, None]], axis=1)
        triangle = np.linalg.qr(np.concatenate([triangle, rows]), mode="r")
    return triangle


def _with_prior(equations: np.ndarray, system: LinearSystem, error_var: float) -> np.ndarray:
    """The equations, and one more for each output: its offset is zero, up to OFFSET_STD."""
    columns = np.flatnonzero(_pack(_marked(system, offset=1.0)))
    weight = np.sqrt(error_var) / OFFSET_STD
    rows = np.zeros((len(columns), equations.shape[1]))
    rows[np.arange(len(columns)), columns] = weight
    rows[:, -1] = -weight * system.offset
    return np.concatenate([equations, rows])


def _with_inputs(
    A: np.ndarray, C: np.ndarray, records: Sequence[Record], max_radius: float
) -> tuple[float, LinearSystem]:
    """The best B, D and offset for given dynamics, with their objective: an exact step, since they
    enter linearly.

    Solved twice, because how much the prior of the offset weighs depends on the error that is left.
    """
    inputs = records[0].input_dim
    outputs = len(C)
    D = np.zeros((outputs, inputs))
    blank = LinearSystem(
        stabilised(A, max_radius), np.zeros((len(A), inputs)), C, D=D, offset=np.zeros(outputs)
    )
    linear = _pack(_marked(blank, inputs=1.0, offset=1.0)) > 0
    equations = _equations(blank, records)
    system = blank
    for _ in range(2):
        rows = _with_prior(equations, blank, squared_error(system, records) / measured(records))
        values = np.zeros(linear.size)
        values[linear] = np.linalg.lstsq(rows[:, :-1][:, linear], rows[:, -1], rcond=1e-12)[0]
        system = _unpack(_pack(blank) + values, blank)
    return objective(system, records), system


def _marked(like: LinearSystem, inputs: float = 0.0, offset: float = 0.0) -> LinearSystem:
    """A system of marks instead of numbers, to find parameters in the packed vector."""
    return LinearSystem(
        np.zeros_like(like.A),
        np.full_like(like.B, inputs),
        np.zeros_like(like.C),
        D=np.full_like(like.D, inputs),
        offset=np.full_like(like.offset, offset),
    )


def _pack(system: LinearSystem) -> np.ndarray:
    """[A, B] row by row, then [C, D, offset] row by row: the order of the Jacobian's columns."""
    dynamic = np.concatenate([system.A, system.B], axis=1)
    static = np.concatenate([system.C, system.D, system.offset[:, None]], axis=1)
    return np.concatenate([dynamic.ravel(), static.ravel()])


def _unpack(values: np.ndarray, like: LinearSystem) -> LinearSystem:
    order, inputs = like.B.shape
    dynamic = values[: order * (order + inputs)].reshape(order, -1)
    static = values[dynamic.size :].reshape(len(like.C), -1)
    return LinearSystem(
        dynamic[:, :order],
        dynamic[:, order:],
        static[:, :order],
        D=static[:, order:-1],
        offset=static[:, -1],
    )
