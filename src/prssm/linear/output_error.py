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

from collections.abc import Iterator, Sequence

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.subspace import dynamics
from prssm.linear.system import MAX_RADIUS, LinearSystem, propagate, spectral_radius, stabilised
from prssm.linear.triangle import triangle

_ITERATIONS = 30
_TOLERANCE = 1e-5  # stop when a step lowers the error by less than this fraction
_EXACT = 1e-11  # or when the error is rounding alone
_FIRST_DAMPING = 1e-3
_MAX_DAMPING = 1e5
OFFSET_STD = 0.03  # in scaled units
_PERTURBATION = 0.1  # of A and C in normalised coordinates, for the random starts


def identify(
    records: Sequence[Record],
    order: int,
    *,
    starts: int = 4,
    random_starts: int = 4,
    max_radius: float = MAX_RADIUS,
    seed: int = 0,
) -> LinearSystem:
    """The best system of the given order for scaled records, in coordinates with uncorrelated
    states of unit variance.

    No pole lies outside `max_radius`. The `starts` subspace starts with the smallest error are
    refined, then `random_starts` perturbations of the best.
    """
    candidates = [
        _with_inputs(A, C, records, max_radius=max_radius) for A, C in _starts(records, order)
    ]
    candidates.sort(key=lambda pair: pair[0])
    refined = [
        refine(system.normalised(records), records, max_radius) for _, system in candidates[:starts]
    ]
    best = min(refined, key=lambda pair: pair[0])[1].normalised(records)
    random = np.random.default_rng(seed)
    for _ in range(random_starts):
        A = best.A + _PERTURBATION * random.standard_normal(best.A.shape)
        C = best.C + _PERTURBATION * random.standard_normal(best.C.shape)
        refined.append(
            refine(
                _with_inputs(A, C, records, max_radius=max_radius)[1].normalised(records),
                records,
                max_radius,
            )
        )
    error, best = min(refined, key=lambda pair: pair[0])
    if not np.isfinite(error):
        raise TrainingError(
            f"linear: no start of order {order} gave a finite error; try a smaller order"
        )
    return best.normalised(records)


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
    equations = np.zeros((0, _pack(system).size + 1))
    for record in records:
        residual, jacobian = linearise(system, record)
        rows = np.concatenate([jacobian, residual[:, None]], axis=1)
        equations = triangle(np.concatenate([equations, rows]))
    return equations


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


def _starts(records: Sequence[Record], order: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Subspace estimates, and a chain of real modes from slow to fast for records too short for
    any.
    """
    yield from dynamics(records, order)
    poles = np.linspace(0.95, 0.3, order)
    yield np.diag(poles), np.ones((records[0].output_dim, order))


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
