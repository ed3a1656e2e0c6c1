r"""Are linear models better that are fitted to predictions one row ahead, under disturbances?

    PRSSM_DATA=... python studies/prediction_error.py --docs docs/studies/subspace.md
    python studies/prediction_error.py --report-only

Linear models minimise the errors of free runs (output error). Where disturbances move the state,
x' = A x + B u + K e, y = C x + D u + offset + e, it is the prediction error e that is white. For
each system of `linear_orders.KINDS` the order is chosen as ever. Other models of that order start
from the one that output error has found, for all rows and for the held-out halves and quarters.
A new method is a function in `METHODS`. Recorded rows are not run again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from linear_orders import KINDS, WARMUP, Looks, error, shipped, starts
from linear_study import geometric_mean, run_study
from scipy.linalg import block_diag

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.splits import folds, split
from prssm.linear.first_state import InitialState
from prssm.linear.projection import OFFSET_STD, Data, Projected, Search
from prssm.linear.sections import Sections
from prssm.linear.system import LinearSystem, spectral_radius, stabilised

_STEPS = 30
_SHRINK = (1.0, 0.85, 0.5)  # of the poles from which a predictor's are searched: it forgets faster
_LAGS = 4  # of the errors' memory, at most
_BEHIND = 0.02  # rounding apart, what a chosen model must gain: mean logarithm over stretches


def predictor(records: Sequence[Record], system: LinearSystem, max_radius: float) -> LinearSystem:
    """The best predictor of the next output; its inputs are [u, y], and y has no direct effect."""
    inputs = records[0].input_dim
    data = Data([_with_outputs(record) for record in records])
    # of inputs that are zero the direct effect is found to be zero
    data.runs = [
        replace(run, u=run.u * (np.arange(len(run.u)) < inputs)[:, None]) for run in data.runs
    ]
    return _searched(data, [(part * system.A, system.C) for part in _SHRINK], max_radius).system()


def simulator(found: LinearSystem, inputs: int) -> LinearSystem:
    """The system whose predictor this is: A = (A - K C) + K C, B = (B - K D) + K D.

    Without an offset: that of a predictor is not that of free runs.
    """
    K = found.B[:, inputs:]
    D = found.D[:, :inputs]
    A = found.A + K @ found.C
    return LinearSystem(A, found.B[:, :inputs] + K @ D, found.C, D=D, offset=0.0 * found.offset)


def prediction_error(
    records: Sequence[Record], system: LinearSystem, max_radius: float
) -> LinearSystem:
    """What predicts best one row ahead; only its poles are kept where it is unstable."""
    found = simulator(predictor(records, system, max_radius), records[0].input_dim)
    if spectral_radius(found.A) > max_radius:
        sections = Sections.of(stabilised(found.A, max_radius), found.C)
        return Projected(sections, Data(records)).system().normalised(records)
    return with_offset(found.normalised(records), records)


def average(records: Sequence[Record], system: LinearSystem, max_radius: float) -> LinearSystem:
    """The mean of both runs: a system of twice the order."""
    other = prediction_error(records, system, max_radius)
    return LinearSystem(
        block_diag(system.A, other.A),
        np.concatenate([system.B, other.B]),
        np.concatenate([system.C, other.C], axis=1) / 2.0,
        D=(system.D + other.D) / 2.0,
        offset=(system.offset + other.offset) / 2.0,
    )


def whitened(records: Sequence[Record], system: LinearSystem, max_radius: float) -> LinearSystem:
    """Output error of records through a filter that makes the errors of free runs white."""
    runs = [system.simulate(system.first_state(record), record.u)[0] for record in records]
    memory = autoregression([r.y - y for r, y in zip(records, runs, strict=True)])
    if len(memory) == 1:
        return system
    shown = [Record(_filtered(r.u, memory), _filtered(r.y, memory)) for r in records]
    found = _searched(Data(shown), [(system.A, system.C)], max_radius).system()
    return with_offset(found.normalised(records), records)


METHODS: dict[str, Callable[[Sequence[Record], LinearSystem, float], LinearSystem]] = {
    "output error": lambda records, system, max_radius: system,
    "prediction error": prediction_error,
    "mean of both runs": average,
    "whitened errors": whitened,
}
SHIPPED = "output error"


def with_offset(system: LinearSystem, records: Sequence[Record]) -> LinearSystem:
    """The same with the offset that output error would give it; see `linear.output_error`.

    The weight of its prior is that of the errors without offset.
    """
    zero = replace(system, offset=np.zeros_like(system.offset))
    outputs = len(system.offset)
    square = np.zeros((outputs, outputs))
    right = np.zeros(outputs)
    errors = []
    for record in records:
        known = ~np.isnan(record.y)
        basis = np.linalg.qr(zero.free_response(len(record))[known])[0]
        ones = np.tile(np.eye(outputs), (len(record), 1, 1))[known]
        ones = ones - basis @ (basis.T @ ones)
        left = zero.nearest_run(record)[1]
        square += ones.T @ ones
        right += ones.T @ left
        errors.append(left)
    weight = np.mean(np.concatenate(errors) ** 2) / OFFSET_STD**2
    return replace(zero, offset=np.linalg.solve(square + weight * np.eye(outputs), right))


def autoregression(errors: Sequence[np.ndarray]) -> np.ndarray:
    """The filter (1, a_1, ...) that makes errors (T, Dy) white; lags by Bayes's criterion."""
    scale = np.sqrt(np.nanmean(np.concatenate(errors) ** 2, axis=0)) + 1e-12
    columns = [column for each in errors for column in (each / scale).T]
    windows = np.concatenate(
        [np.lib.stride_tricks.sliding_window_view(column, _LAGS + 1) for column in columns]
    )[:, ::-1]
    windows = windows[np.isfinite(windows).all(axis=1)]
    now = windows[:, 0]
    best = (np.inf, np.ones(1))
    for lags in range(_LAGS + 1):
        past = windows[:, 1 : 1 + lags]
        weights = np.linalg.lstsq(past, now, rcond=None)[0]
        rest = float(np.mean((now - past @ weights) ** 2)) + 1e-12
        criterion = len(now) * np.log(rest) + lags * np.log(len(now))
        if criterion < best[0]:
            best = (criterion, np.append(1.0, -weights))
    return best[1]


def _filtered(values: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """Values (T, D) without the rows at the beginning whose past is not known."""
    most = len(memory) - 1
    parts = [memory[k] * values[most - k : len(values) - k] for k in range(most + 1)]
    return np.sum(parts, axis=0)


def _with_outputs(record: Record) -> Record:
    return Record(np.concatenate([record.u, record.outputs_filled()], axis=1), record.y)


def _searched(
    data: Data, candidates: Sequence[tuple[np.ndarray, np.ndarray]], max_radius: float
) -> Projected:
    found = [Projected(Sections.of(A, C).within(max_radius), data) for A, C in candidates]
    searches = [Search(one, max_radius) for one in found]
    for search in searches:
        search.advance(_STEPS, 0.0)
    return min((search.best for search in searches), key=lambda one: one.objective)


def study(kind: str, number: int) -> dict[str, Any]:
    """Errors of all methods at the order that is chosen: on unseen rows, and held out."""
    train, unseen = KINDS[kind](number)
    scaler = Scaler.fit(train)
    looks = Looks([scaler.scale(record) for record in train])
    order = shipped(looks)
    halves = looks.judged(order).held_out
    quarters = looks.again(halves) if halves else None
    runs = [scaler.scale(run) for record in unseen for run in starts(record)]
    system = looks.system(order)
    radius = halves.max_radius
    row: dict[str, Any] = {"kind": kind, "number": number, "rows": sum(map(len, train))}
    row["order"] = order
    row["errors"] = {}
    row["held_out"] = {}
    for name, method in METHODS.items():
        row["errors"][name] = error(method(looks.train, system, radius), looks.train, runs)
        row["held_out"][name] = [
            value
            for count, look in ((2, halves), (4, quarters))
            if look is not None
            for value in held_out(looks.train, count, look, method)
        ]
    return row


def held_out(records: list[Record], count: int, look: Any, method: Callable) -> list[float]:
    """Logarithms of the errors on stretches that models of the others run over."""
    found = []
    for stretches, system in zip(folds(records, count), look.systems, strict=True):
        shown, others = split(records, stretches)
        means = Scaler.fit(shown)
        shown = [Record(each.u - means.u_mean, each.y - means.y_mean) for each in shown]
        model = method(shown, system, look.max_radius)
        start = InitialState.fit(model, shown)
        for each in others:
            u = each.u - means.u_mean
            y = each.y - means.y_mean
            x0, _ = start.estimate(model, u, y[:WARMUP])
            errors = y - model.simulate(x0, u)[0]
            found.append(float(np.log(np.sqrt(np.nanmean(errors**2)))))
    return found


def where_clearly_better(row: Mapping[str, Any], method: str) -> float:
    """The error of the method, or of output error where stretches do not tell it to be better."""
    held = row["held_out"]
    gain = np.array(held[SHIPPED]) - np.array(held[method])
    chance = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return float(row["errors"][method if gain.mean() - chance > _BEHIND else SHIPPED])


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each method, taken always or where held-out stretches tell: all, then kinds."""
    rows = list(rows)
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    titles = [f"{kind} ({sum(row['kind'] == kind for row in rows)})" for kind in kinds]
    lines = [
        f"| method | all ({len(rows)}) | worst | better : worse | {' | '.join(titles)} |",
        f"|---|---|---|---|{'---|' * len(kinds)}",
    ]
    before = np.array([row["errors"][SHIPPED] for row in rows])
    for name in METHODS:
        if name == SHIPPED:
            continue
        always = np.array([row["errors"][name] for row in rows]) / before
        chosen = np.array([where_clearly_better(row, name) for row in rows]) / before
        for title, ratios in (("always", always), ("if clearly better", chosen)):
            kind_of = np.array([row["kind"] for row in rows])
            cells = [f"{geometric_mean(ratios):.3f}", f"{ratios.max():.2f}"]
            cells.append(f"{int((ratios < 0.97).sum())} : {int((ratios > 1.03).sum())}")
            cells += [f"{geometric_mean(ratios[kind_of == kind]):.3f}" for kind in kinds]
            lines.append(f"| {name}, {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    run_study(
        __doc__,
        "prediction_error",
        KINDS,
        study=study,
        page=page,
        told=lambda row: f"{row['order']} {row['errors']}",
    )


if __name__ == "__main__":
    main()
