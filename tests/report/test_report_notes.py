"""What the report says in words follows from the scores."""

import math
from dataclasses import replace

import numpy as np
import pytest

from prssm.evaluation.comparison import Run
from prssm.prediction.cautions import about_seen
from prssm.prediction.metrics import evaluate
from prssm.prediction.prediction import Prediction
from prssm.report.fit.calibration import chance_of_holding, independent_errors
from prssm.report.fit.notes import notes_about, too_wide
from prssm.report.tables import ScoreRow
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog


def texts(kind: str, scores: dict[str, float], baselines: tuple[ScoreRow, ...] = (), **more) -> str:
    train_rmse = more.pop("train_rmse", scores.get("rmse", 1.0))
    runs = [Run("test data", [], scores), Run("training data", [], {"rmse": train_rmse})]
    held_out = more.pop("held_out", True)
    notes = notes_about(runs, baselines, more.pop("log", None), held_out=held_out, **more)
    return " / ".join(note.text for note in notes if note.kind == kind)


@pytest.mark.parametrize(
    ("coverage", "kind", "part"),
    [
        (0.60, "warning", "only 60%: do not trust the band"),
        (0.85, "warning", "somewhat too narrow"),
        (0.94, "good", "taken at its word"),
        (1.00, "warning", "too wide"),
    ],
)
def test_the_band_is_judged(coverage: float, kind: str, part: str) -> None:
    assert part in texts(kind, {"rmse": 1.0, "coverage_95": coverage, "coverage_50": 0.9})


def held(errors: np.ndarray, deviation: float = 1.0) -> Run:
    """A run with these errors in a band of this deviation."""
    zero = np.zeros((len(errors), 1))
    run = Prediction(zero, zero + deviation, measured=errors[:, None], name="log")
    return Run("test data", [run], evaluate([run], np.ones(1)))


def of_band(run: Run) -> tuple[str, str]:
    (note,) = notes_about([run], (), None, held_out=True)
    return note.kind, note.text


def test_a_band_that_held_all_of_few_rows_is_neither_right_nor_wrong() -> None:
    slow = 1.4 * np.sin(np.arange(90) / 12.0)  # errors that follow each other for long
    kind, text = of_band(held(slow))
    assert kind == "open"
    assert "held all of 90 measurements of test data: it is wide, or the rows are few" in text
    count = independent_errors(held(slow).predictions)
    assert count < 10
    assert f"in {100 * 0.95**count:.0f} of 100 cases" in text
    few = held(np.array([0.4, -1.2, 0.9, -0.1, 1.1]))
    assert of_band(few)[0] == "open"


def test_a_band_that_held_all_of_many_rows_is_wide() -> None:
    ends = np.random.default_rng(0).uniform(-1.2, 1.2, size=400)  # about half within 0.67
    kind, text = of_band(held(ends))
    assert kind == "good"
    assert "wider at its ends than it had to be" in text
    kind, text = of_band(held(0.1 * ends))
    assert kind == "warning"
    assert "too wide" in text


def test_a_band_that_held_all_tells_by_its_middle_from_few_rows() -> None:
    errors = 0.2 * np.random.default_rng(0).normal(size=20)
    assert 0.95**20 > 0.3  # all inside the 95 % band is no surprise
    assert "too wide" in of_band(held(errors))[1]
    assert too_wide(held(errors))
    assert not too_wide(held(errors[:3]))


@pytest.mark.parametrize("count", [5, 40])
def test_the_chance_of_holding_is_the_binomial_tail(count: int) -> None:
    for least in range(count + 1):
        tail = sum(
            math.comb(count, k) * 0.95**k * 0.05 ** (count - k) for k in range(least, count + 1)
        )
        assert chance_of_holding(least / count, 0.95, count) == pytest.approx(tail, rel=1e-9)


def test_a_better_baseline_is_recommended_and_a_failed_one_named() -> None:
    rows = (
        ScoreRow("constant", {"rmse": 2.0}),
        ScoreRow("linear", {"rmse": 0.5}),
        ScoreRow("other", {}, "failed: why"),
    )
    warnings = texts("warning", {"rmse": 1.0}, rows)
    assert "linear model is at least as good (RMSE 0.5 against 1): prefer it" in warnings
    assert "failed: why" in warnings
    assert "constant" not in warnings
    assert "beats: constant (2)" in texts("good", {"rmse": 1.0}, rows)


def test_a_linear_model_that_was_kept_is_not_told_to_be_another() -> None:
    rows = (ScoreRow("constant", {"rmse": 0.9}), ScoreRow("linear", {"rmse": 0.5}))
    warnings = texts("warning", {"rmse": 1.0}, rows, is_linear=True)
    assert "constant model is at least as good" in warnings
    assert "linear model" not in warnings
    good = texts("good", {"rmse": 1.0}, rows, is_linear=True)
    assert "kept is itself linear; the linear model beside it (RMSE 0.5 against 1)" in good
    better = texts("good", {"rmse": 0.4}, rows, is_linear=True)
    assert "(RMSE 0.5 against 0.4) is another of its kind" in better
    assert "beats: constant (0.9)." in better


def test_overfitting_divergence_and_missing_test_data_are_said() -> None:
    outcomes = (CONVERGED, DIVERGED, CONVERGED)
    log = TrainingLog(
        np.array([10]),
        np.zeros((3, 1)),
        np.array([1.0, np.nan, 0.0]),
        outcomes=outcomes,
        kept=0,
        seconds=1.0,
    )
    warnings = texts("warning", {"rmse": 3.0}, train_rmse=1.0, log=log, held_out=False)
    assert "3.0 times" in warnings
    assert "1 of 3 restarts diverged" in warnings
    many = replace(log, outcomes=(DIVERGED,) + (CONVERGED,) * 75)  # of so many a few always may
    assert "diverged" not in texts("warning", {"rmse": 3.0}, log=many)
    assert "No data was kept back" in warnings


def test_a_failed_run_is_not_called_better_than_a_baseline() -> None:
    assert "prefer it" in texts(
        "warning", {"rmse": float("nan")}, (ScoreRow("constant", {"rmse": 2.0}),)
    )


def test_a_test_part_that_left_the_training_data_is_not_called_overfitting() -> None:
    zero = np.zeros((100, 1))
    left = Prediction(zero, zero + 1.0, name="log", distance=np.full(100, 0.4))
    left = replace(left, cautions=(about_seen(left),))
    runs = [Run("test data", [left], {"rmse": 3.0}), Run("training data", [], {"rmse": 1.0})]
    found = [note.text for note in notes_about(runs, (), None, held_out=True)]
    assert any("log: 100 of 100 rows are outside" in text for text in found)
    assert any("3.0 times" in text and "leave what the model has seen" in text for text in found)
    assert not any("learnt the recording" in text for text in found)
