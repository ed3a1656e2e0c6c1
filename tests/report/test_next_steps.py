"""What to do next: each rule speaks where its cause is there, and is silent where it is not."""

import dataclasses

import numpy as np
import pytest
from small_models import small_linear, small_prssm

from prssm.evaluation.comparison import Run, ScoreRow
from prssm.prediction.metrics import evaluate
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals
from prssm.report.fit.findings import Findings
from prssm.report.fit.next_steps import next_steps
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog

ROWS = 400


def run_with(error: np.ndarray, label: str = "test data", **parts) -> Run:
    """A run whose measurements lie so far beside it, in a band of one."""
    mean = np.sin(np.arange(ROWS) / 9.0)[:, None]
    prediction = Prediction(
        mean,
        np.ones((ROWS, 1)),
        measured=mean + error[:, None],
        inputs=np.zeros((ROWS, 1)),
        output_names=("level",),
        **parts,
    )
    return Run(label, [prediction], evaluate([prediction], np.ones(1)))


@pytest.fixture
def errors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=ROWS)


@pytest.fixture
def good(errors) -> Findings:
    """A model that is right about everything."""
    rng = np.random.default_rng(1)
    white = Residuals.of(
        [rng.normal(size=(ROWS, 1))],
        [rng.normal(size=(ROWS, 1))],
        output_names=("level",),
        input_names=("valve",),
    )
    runs = [run_with(errors), run_with(errors, "training data")]
    return Findings(
        small_linear(),
        runs,
        baselines=[],
        held_out=True,
        residuals=white,
        ahead=[],
        behaviour=None,
        slices=None,
    )


def only(found: Findings) -> str:
    (text,) = next_steps(found)
    return text


def changed(found: Findings, *runs: Run, **parts) -> Findings:
    return dataclasses.replace(found, runs=list(runs) or found.runs, **parts)


def test_a_good_model_is_sent_on_its_way(good) -> None:
    assert "Nothing here speaks against the model" in only(good)


def test_data_should_be_kept_back(good) -> None:
    assert only(changed(good, held_out=False)).startswith("Keep data back")


def test_a_run_outside_of_the_data_asks_for_data_there(good, errors) -> None:
    distance = np.where(np.arange(ROWS) < 100, 1.0, 0.0)
    text = only(changed(good, run_with(errors, distance=distance)))
    assert text.startswith("Record training data where the run goes: 25% of its rows")
    beyond = np.arange(ROWS) < 40
    text = only(changed(good, run_with(errors, inputs_outside=beyond)))
    assert text.startswith("Record training data with such inputs: 10% of the rows")


def test_a_narrow_band_says_how_much_wider_it_should_be(good, errors) -> None:
    text = only(changed(good, run_with(3.0 * errors)))
    factor = np.quantile(np.abs(3.0 * errors), 0.95) / 1.959964
    assert f"{factor:.1f} times its width" in text
    assert "Train on more recordings" in text
    distance = np.full(ROWS, 1.0)
    texts = next_steps(changed(good, run_with(3.0 * errors, distance=distance)))
    assert any("no band holds there" in text for text in texts)


def test_a_wide_band_says_so(good, errors) -> None:
    assert "too wide" in only(changed(good, run_with(0.1 * errors)))


def test_a_linear_model_that_is_as_good_is_preferred(good) -> None:
    own = good.runs[0].scores["rmse"]
    model = small_prssm()
    near = changed(good, baselines=[ScoreRow("linear", {"rmse": 1.01 * own})])
    assert "Use the linear model" in only(dataclasses.replace(near, model=model))
    assert "Nothing here" in only(near)  # it is the linear model
    kept = small_prssm()
    kept.level_ = "linear"
    assert only(dataclasses.replace(near, model=kept)).startswith("Keep the model: it is the lin")
    far = changed(good, baselines=[ScoreRow("linear", {"rmse": 1.2 * own})], model=model)
    assert "Nothing here" in only(far)


def test_errors_that_depend_on_an_input_name_it_and_the_lag(good, errors) -> None:
    u = np.random.default_rng(2).normal(size=(ROWS, 1))
    told = Residuals.of(
        [errors[:, None] + np.roll(u, 4)],
        [u],
        output_names=("level",),
        input_names=("valve",),
    )
    text = only(changed(good, residuals=told))
    assert "more states" in text
    assert "errors of level still depend on valve, most on that of 4 steps before" in text


def test_errors_that_follow_each_other_alone_are_a_disturbance(good, errors) -> None:
    slow = np.convolve(errors, np.ones(8))[:ROWS, None]
    u = np.random.default_rng(3).normal(size=(ROWS, 1))
    told = Residuals.of([slow], [u], output_names=("level",), input_names=("valve",))
    assert told.independent
    assert "something that was not recorded drives the system" in only(
        changed(good, residuals=told)
    )


def test_errors_that_alternate_are_no_disturbance(good, errors) -> None:
    restless = errors[1:] - 0.6 * errors[:-1]
    u = np.random.default_rng(3).normal(size=(ROWS - 1, 1))
    told = Residuals.of([restless[:, None]], [u], output_names=("level",), input_names=("valve",))
    assert told.independent
    text = only(changed(good, residuals=told))
    assert "alternate (correlation -0." in text
    assert "without --budget" not in text  # who says that there was one?
    assert "not recorded" not in text


def test_an_offset_and_a_growing_error_are_told_apart(good, errors) -> None:
    texts = next_steps(changed(good, run_with(2.0 + 0.3 * errors)))
    assert any("off by a constant: level was +" in text for text in texts)
    growing = errors * np.linspace(0.02, 1.5, ROWS)
    texts = next_steps(changed(good, run_with(growing)))
    assert any("Errors add up" in text for text in texts)
    assert not any("off by a constant" in text for text in texts)


def test_a_gap_to_training_a_fast_log_and_lost_restarts_are_said(good, errors) -> None:
    by_heart = changed(good, good.runs[0], run_with(0.2 * errors, "training data"))
    assert "Train on more data" in only(by_heart)
    model = small_linear(stride=4)
    assert "every 2 s would do" in only(changed(good, model=model))
    log = TrainingLog(
        np.arange(2), np.zeros((2, 2)), np.zeros(2), outcomes=(CONVERGED, DIVERGED), kept=0,
        seconds=1.0,
    )  # fmt: skip
    model = small_linear()
    model.training_ = log
    assert "1 of 2 restarts diverged" in only(changed(good, model=model))


def test_runs_that_are_lost_or_not_measured_raise_nothing(good, errors) -> None:
    fine = run_with(errors).predictions[0]
    away = np.where(np.arange(ROWS)[:, None] > 50, np.inf, fine.mean)
    lost = dataclasses.replace(fine, mean=away)
    blind = dataclasses.replace(fine, measured=np.full((ROWS, 1), np.nan))
    for prediction in (lost, blind):
        run = Run("test data", [prediction], {"rmse": np.inf})
        assert next_steps(changed(good, run, residuals="too few rows"))
