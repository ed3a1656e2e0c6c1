"""One experiment: figures in closed form, and every way to fail is a record with its reason."""

import json
import math

import benchmark_fakes
import numpy as np
import pytest

from prssm.data.record import Record
from prssm.evaluation.benchmark.experiment import run_experiment
from prssm.evaluation.benchmark.plan import Experiment, variant_of
from prssm.evaluation.jobs.job_record import FAILED, OK
from prssm.evaluation.jobs.provenance import data_checksum


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    benchmark_fakes.install(monkeypatch)


def _run(spec, dataset="toy", seed=0):
    return run_experiment(Experiment(dataset, variant_of(spec), seed))


def test_figures_are_those_of_the_free_run():
    # predicts 0.53 everywhere, the test outputs are 0..7
    record = _run("prssm:offset=0.5", seed=3).record
    error = np.arange(8.0) - 0.53
    test = record["metrics"]["test"]
    assert record["outcome"] == OK
    assert test["rmse"] == pytest.approx(math.sqrt(np.mean(error**2)))
    assert test["rmse_after_warmup"] == pytest.approx(math.sqrt(np.mean(error[2:] ** 2)))
    assert test["log_likelihood"] == pytest.approx(
        np.mean(-0.5 * error**2 - 0.5 * math.log(2 * math.pi))
    )
    assert test["coverage_95"] == np.mean(np.abs(error) <= 1.959964)
    assert record["metrics"]["train"]["rmse"] == pytest.approx(
        math.sqrt(np.mean([0.47**2, 1.53**2]))
    )


def test_record_tells_everything_and_is_json():
    finished = _run("prssm:iterations=7,scheme=full", seed=2)
    record = json.loads(json.dumps(finished.record, allow_nan=False))
    assert record == finished.record
    assert record["configuration"] == {
        "behave": "well",
        "offset": 0.5,
        "iterations": 7,
        "scheme": "full",
        "restarts": 2,
    }
    assert (record["seed"], record["iterations"], record["warmup"]) == (2, 7, 2)
    assert record["training"] == {
        "objective": "ELBO",
        "kept": 0,
        "final": [1.0, None],
        "outcomes": ["finished", "diverged at 2"],
    }
    assert record["data"] == {
        "name": "toy test",
        "train_rows": 8,
        "test_rows": 8,
        "sha256": data_checksum(benchmark_fakes.toy_data()),
    }
    assert record["findings"] == {"Warm-up": "2"}
    assert all(seconds >= 0 for seconds in record["seconds"].values())
    assert {"jax", "numpy", "prssm", "python"} <= set(record["versions"])
    assert record["device"]
    assert record["machine"]


def test_arrays_hold_the_test_run_for_figures():
    arrays = _run("prssm").arrays
    np.testing.assert_array_equal(arrays["test0.measured"][:, 0], np.arange(8.0))
    np.testing.assert_allclose(arrays["test0.mean"], 0.5)
    np.testing.assert_allclose(arrays["test0.std"], 1.0)
    assert arrays["test0.samples"].shape == (10, 8, 1)
    np.testing.assert_array_equal(arrays["training.iteration"], [1, 50])


def test_data_sets_own_warm_up_counts_in_rmse_scored_only():
    metrics = _run("prssm", "skipping").record["metrics"]["test"]
    error = np.arange(8.0) - 0.5
    assert metrics["rmse"] == pytest.approx(math.sqrt(np.mean(error**2)))
    assert metrics["rmse_scored"] == pytest.approx(math.sqrt(np.mean(error[3:] ** 2)))


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        ("raise", "ZeroDivisionError: no luck"),
        ("diverge", "the free run on the train part diverged: toy train, step 3: mean [inf]"),
        ("overflow", "the free run on the train part diverged: rmse is not finite"),
    ],
)
def test_whatever_goes_wrong_is_a_record_with_its_reason(behave, words):
    record = _run(f"prssm:behave={behave}").record
    assert record["outcome"] == FAILED
    assert record["reason"].startswith(words)
    assert "\n" not in record["reason"]
    assert record["metrics"] is None
    assert "Traceback" in record["traceback"]
    json.dumps(record, allow_nan=False)


def test_an_interrupted_training_is_not_a_failed_experiment():
    with pytest.raises(KeyboardInterrupt):
        _run("prssm:behave=interrupt")


def test_missing_data_is_a_failed_record(monkeypatch):
    def missing(name):
        raise OSError("disk gone")

    benchmark_fakes.install_data(monkeypatch, missing)
    assert _run("prssm").record["reason"] == "OSError: disk gone"


def test_a_metric_that_the_data_leave_undefined_is_none(monkeypatch):
    train, _ = benchmark_fakes.toy_data()
    # does not move, and ends with the warm-up
    still = Record(np.arange(2.0), np.ones(2), name="still")
    benchmark_fakes.install_data(monkeypatch, lambda name: (train, [still]))
    record = _run("prssm").record
    assert record["outcome"] == OK
    assert record["metrics"]["test"]["fit_percent"] is None
    assert record["metrics"]["test"]["rmse_after_warmup"] is None
    assert record["metrics"]["test"]["rmse"] == pytest.approx(0.5)


def test_checksum_sees_every_number():
    first = Record(np.arange(4.0), np.arange(4.0))
    other = Record(np.arange(4.0), [0.0, 1.0, 2.0, 3.0 + 1e-12])
    assert data_checksum([first]) == data_checksum([first[:]])
    assert data_checksum([first]) != data_checksum([other])
