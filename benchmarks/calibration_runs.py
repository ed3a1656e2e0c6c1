"""What a fit leaves for trying other bands off-line: its runs where it was and was not trained.

All arrays are in scaled units and at the model's rate; bands are the model's own, before any
calibration. Stretches of several records are joined, `*_rows` says how long each is.

    held_*    free runs of the folds' models over what they have not seen, by stretch
    final_*   free runs of the final model over the same stretches, which it has seen
    test_*    the final model over the test part; member_* and fold_* each of its members, and each
              fold's model; linear_* the linear model's, calibrated as it ships
    *_state   states of the best member; train_* is all that was trained on
"""

from collections.abc import Sequence

import numpy as np

from prssm import PRSSM, LinearSSM, Record
from prssm.data.resample import thinned
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.selection import best_rounds
from prssm.models.prssm.trained import Candidate, mixed
from prssm.models.simulated import Simulated

SAMPLES = 200
MOST_ROWS = 2000  # of the test part
_BITS = 13  # of a number's mantissa that are kept, so that files stay small


def kept_runs(
    model: PRSSM, linear: LinearSSM, train: Sequence[Record], test: Sequence[Record]
) -> dict[str, np.ndarray]:
    """All arrays of one recording."""
    shown = [thinned(model.scaler_.scale(record), model.stride_) for record in train]
    unseen = [_slow(model, record) for record in test]
    arrays = _held_out(model) | _test(model, linear, test, unseen)
    arrays |= {"train_u": _joined(r.u for r in shown), "train_y": _joined(r.y for r in shown)}
    arrays["train_rows"] = np.array([len(r) for r in shown])
    best = model.mixture_.only(0)
    arrays["train_state"] = _joined(_run(best, r, quick=False).state_mean for r in shown)
    arrays["test_state"] = _joined(_run(best, r, quick=False).state_mean for r in unseen)
    return {name: _rounded(array) for name, array in arrays.items()}


def _slow(model: PRSSM, record: Record) -> Record:
    return thinned(model.scaler_.scale(record), model.stride_)[:MOST_ROWS]


def chosen(model: PRSSM) -> list[Candidate]:
    """The levels that were mixed, each after the round that was kept."""
    names = model.level_.split("+")
    found = {one.level.name: one for one in best_rounds(model.restarts_.candidates())}
    return [found[name] for name in names]


def _held_out(model: PRSSM) -> dict[str, np.ndarray]:
    levels = chosen(model)
    both = mixed([one.held_out for one in levels])
    if not both.errors:
        return {}
    stretches = [
        (number, record)
        for number, group in enumerate(_groups(model, levels[0]))
        for record in group.fold.held_out_records
    ]
    cut = [record[: len(error)] for (_, record), error in zip(stretches, both.errors, strict=True)]
    final = [_run(model.mixture_, record) for record in cut]
    return {
        "held_error": _joined(both.errors),
        "held_std": _joined(both.stds),
        "held_u": _joined(record.u for record in cut),
        "held_y": _joined(record.y for record in cut),
        "held_rows": np.array([len(error) for error in both.errors]),
        "held_fold": np.array([number for number, _ in stretches]),
        "final_error": _joined(r.y - run.mean for r, run in zip(cut, final, strict=True)),
        "final_std": _joined(run.std for run in final),
    }


def _groups(model: PRSSM, one: Candidate) -> list:
    groups = model.restarts_.groups
    return [group for group in groups if group.level is one.level and group.fold is not None]


def _test(
    model: PRSSM, linear: LinearSSM, test: Sequence[Record], unseen: Sequence[Record]
) -> dict[str, np.ndarray]:
    arrays = {
        "test_u": _joined(record.u for record in unseen),
        "test_measured": _joined(record.y for record in unseen),
        "test_rows": np.array([len(record) for record in unseen]),
        "factor": model.calibration_.factor,
    }
    final = [_run(model.mixture_, record) for record in unseen]
    plain = [_slow_run(model, linear, record) for record in test]
    for name, runs in (("test", final), ("linear", plain)):
        arrays[f"{name}_mean"] = _joined(run.mean for run in runs)
        arrays[f"{name}_std"] = _joined(run.std for run in runs)
    members = range(len(model.mixture_.models.log_output_std))
    each = [[_run(model.mixture_.only(i), record) for record in unseen] for i in members]
    folds = _fold_runs(model, unseen)
    for name, several in (("member", each), ("fold", folds)):
        if several:
            arrays[f"{name}_mean"] = np.stack([_joined(r.mean for r in runs) for runs in several])
            arrays[f"{name}_std"] = np.stack([_joined(r.std for r in runs) for runs in several])
    return arrays


def _fold_runs(model: PRSSM, unseen: Sequence[Record]) -> list[list[Simulated]]:
    """Each fold's model over the test part: its levels mixed as the final ones are."""
    trained = model.restarts_
    levels = chosen(model)
    found = []
    for groups in zip(*(_groups(model, one) for one in levels), strict=True):
        mixtures = [
            trained.mixture(one.round, trained.members(group, one.round))
            for one, group in zip(levels, groups, strict=True)
        ]
        found.append([_mixed_run([_run(m, record) for m in mixtures]) for record in unseen])
    return found


def _mixed_run(runs: list[Simulated]) -> Simulated:
    """Equal weights: the law of total variance."""
    means = np.stack([run.mean for run in runs])
    stds = np.stack([run.std for run in runs])
    return Simulated(means.mean(axis=0), np.sqrt((stds**2).mean(axis=0) + means.var(axis=0)))


def _slow_run(model: PRSSM, linear: LinearSSM, record: Record) -> Simulated:
    """The linear model at the rows that the other model's steps have, in scaled units."""
    run = linear.simulate(record)
    every = slice(None, None, model.stride_)
    mean = (run.mean[every] - model.scaler_.y_mean) / model.scaler_.y_std
    std = run.std[every] / model.scaler_.y_std
    return Simulated(mean[:MOST_ROWS], std[:MOST_ROWS])


def _run(mixture: Mixture, record: Record, quick: bool = True) -> Simulated:
    return mixture.run(record.u, record.y[: mixture.window], SAMPLES, 0, quick=quick)


def _joined(parts) -> np.ndarray:
    return np.concatenate(list(parts))


def _rounded(array: np.ndarray) -> np.ndarray:
    """In single precision with some bits of the mantissa cleared; whole numbers stay."""
    if array.dtype.kind != "f":
        return array
    mantissa, exponent = np.frexp(array)
    with np.errstate(over="ignore"):
        return np.ldexp(np.round(mantissa * 2.0**_BITS) / 2.0**_BITS, exponent).astype(np.float32)
