"""One experiment: train, simulate both parts freely, score, and say what happened.

A failed run is a record with its reason, never an exception.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from prssm.data.sets import catalogue
from prssm.evaluation.benchmark import data
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.job_record import OK, SCHEMA_VERSION, Finished, failure
from prssm.evaluation.jobs.provenance import data_checksum, provenance
from prssm.foundation.errors import PrssmError
from prssm.models.estimator import Estimator
from prssm.prediction.metrics import evaluate, rmse_after
from prssm.prediction.prediction import Prediction

SAMPLES_KEPT = 10  # sample paths stored for figures


class DivergedRun(PrssmError):
    """A free run left the numbers, so that it has no score."""


def run_experiment(experiment: Experiment) -> Finished:
    """Trains and scores one experiment.

    Whatever goes wrong becomes a failed record with its reason; only Ctrl-C passes.
    """
    record = blank_record(experiment)
    arrays: dict[str, np.ndarray] = {}
    try:
        _run(experiment, record, arrays)
    except KeyboardInterrupt:  # before Exception: an interrupted training is both
        raise
    except Exception as error:
        record |= failure(error)
    return Finished(record, arrays)


def blank_record(experiment: Experiment) -> dict[str, Any]:
    """The record before anything has run: all its fields are there from the start."""
    variant = experiment.variant
    return {
        "schema": SCHEMA_VERSION,
        "key": experiment.key,
        "dataset": experiment.dataset,
        "method": variant.method,
        "label": variant.label,
        "preset": variant.preset,
        "configuration": variant.configuration(),
        "seed": experiment.seed,
        "outcome": OK,
        "reason": None,
        "traceback": None,
        "metrics": None,
        "seconds": {"fit": None, "simulate_train": None, "simulate_test": None},
        "iterations": None,
        "training": None,
        "findings": None,
        "data": None,
        "warmup": None,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        **provenance(),
    }


def _run(experiment: Experiment, record: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    train, test = data.load_parts(experiment.dataset)
    skip = catalogue.describe(experiment.dataset).unscored
    record["data"] = {
        "name": test[0].name,
        "train_rows": sum(map(len, train)),
        "test_rows": sum(map(len, test)),
        "sha256": data_checksum([*train, *test]),
    }
    model = experiment.variant.build(experiment.seed)
    start = time.perf_counter()
    model.fit(train)
    record["seconds"]["fit"] = time.perf_counter() - start
    record |= {"warmup": model.warmup, "findings": dict(model.findings())}
    _describe_training(model, record, arrays)
    metrics = {}
    for part, records in (("train", train), ("test", test)):
        start = time.perf_counter()
        predictions = model.free_runs(records, seed=experiment.seed)
        record["seconds"][f"simulate_{part}"] = time.perf_counter() - start
        if part == "test":
            arrays |= _arrays_of(predictions)
        metrics[part] = score(predictions, model.scaler_.y_std, part, skip=skip)
    record["metrics"] = metrics
    record["finished"] = datetime.now(UTC).isoformat(timespec="seconds")


def score(
    predictions: Sequence[Prediction], y_std: np.ndarray, part: str, skip: int = 0
) -> dict[str, float | None]:
    """The metrics of some free runs; None where the data leave one undefined.

    A run with values that are not finite is an error (`DivergedRun`).

    `rmse_scored` leaves out the first `skip` steps of each run, as the data set's own protocol
    asks.
    """
    for prediction in predictions:
        _check_finite(prediction, part)
    with np.errstate(all="ignore"):  # an overflow is found below, by its result
        scores = evaluate(predictions, y_std)
        scores["rmse_scored"] = rmse_after(predictions, skip)
    infinite = [name for name, value in scores.items() if np.isinf(value)]
    if infinite:
        raise DivergedRun(f"the free run on the {part} part diverged: {infinite[0]} is not finite")
    return {name: None if np.isnan(value) else value for name, value in scores.items()}


def _check_finite(prediction: Prediction, part: str) -> None:
    bad = ~np.isfinite(prediction.mean) | ~np.isfinite(prediction.std) | (prediction.std <= 0)
    if bad.any():
        step = int(np.flatnonzero(bad.any(axis=1))[0])
        mean = prediction.mean[step]
        std = prediction.std[step]
        raise DivergedRun(
            f"the free run on the {part} part diverged: {prediction.name}, step {step}: "
            f"mean {mean.tolist()}, std {std.tolist()}"
        )


def _describe_training(
    model: Estimator, record: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    log = model.training_
    if log is None:
        return
    record["iterations"] = int(log.iteration[-1]) if len(log.iteration) else 0
    final = [float(value) if np.isfinite(value) else None for value in log.final]
    record["training"] = {
        "objective": log.objective_name,
        "kept": int(log.kept),
        "final": final,
        "outcomes": list(log.outcomes),
    }
    arrays |= {
        "training.iteration": np.asarray(log.iteration),
        "training.objective": np.asarray(log.objective),
    }


def _arrays_of(predictions: Sequence[Prediction]) -> dict[str, np.ndarray]:
    """What figures need of the test runs, run i under 'test<i>.<name>'."""
    arrays: dict[str, np.ndarray] = {}
    for i, run in enumerate(predictions):
        parts = {
            "mean": run.mean,
            "std": run.std,
            "measured": run.measured,
            "inputs": run.inputs,
            "time": run.time,
            "dt": run.dt,
            "state_mean": run.state_mean,
            "state_std": run.state_std,
            "samples": None
            if run.samples is None
            else run.samples[:SAMPLES_KEPT].astype(np.float32),
        }
        arrays |= {
            f"test{i}.{name}": np.asarray(value)
            for name, value in parts.items()
            if value is not None
        }
    return arrays
