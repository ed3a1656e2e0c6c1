"""The benchmark of bands: its population, its figures, and what it keeps of a recording."""

from pathlib import Path

import calibration
import numpy as np
import pytest
from calibration import Job, listing, more_runs, names, options_of, recording, summary, table, work
from calibration_runs import _rounded

from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.runner import run_missing

QUICK = {"iterations": 4, "restarts": 1, "fold_restarts": 1, "folds": 2, "simulation_samples": 20}


def row(two: float, ours: float = 1.0, theirs: float = 0.0) -> dict:
    shares = {level: two for level in calibration.LEVELS}
    return {
        "outcome": "ok",
        "group": "random",
        "name": "r",
        "facts": {"noise": 0.1},
        "score": shares | {"log_likelihood_scaled": ours, "nrmse": 0.2},
        "linear": {"log_likelihood_scaled": theirs, "nrmse": 0.4},
        "factor": [1.0],
        "level": "free",
    }


def test_the_population_has_all_groups() -> None:
    found = names(100)
    assert {group: len(list_) for group, list_ in found.items()} == {
        "long": 4,
        "kinds": 12,
        "tasks": 14,
        "random": 100,
    }


def test_the_summary_counts_bands_that_hold() -> None:
    rows = [row(0.95), row(0.80, ours=-1.0), row(1.0), row(0.9)]
    cells = summary(rows)
    assert cells[:4] == ["4", "50%", "25%", "25%"]
    assert cells[4] == f"{np.mean([0.95, 0.8, 1.0, 0.9]):.3f}"
    assert cells[8:] == ["75%", "0.500", "2.00"]
    failed = {"outcome": "failed", "name": "x", "reason": "because", "group": "random"}
    assert table([*rows, failed]).count("\n") == 4
    assert "x: failed: because" in listing([*rows, failed])


def test_recordings_that_are_simulated_are_scored_over_more_runs() -> None:
    one = row(1.0)
    many = row(0.9, ours=-1.0)
    both = one | {"score_more": many["score"], "linear_more": many["linear"]}
    lines = table([both, row(1.0)]).splitlines()
    assert [cell.strip() for cell in lines[-2].split("|")[2:5]] == ["2", "0%", "0%"]
    assert [cell.strip() for cell in lines[-1].split("|")[2:5]] == ["2", "50%", "0%"]
    assert lines[-1].split("|")[10].strip() == "50%"  # likelier than linear


def test_more_runs_are_others_of_the_same_system() -> None:
    _, (test,), facts = recording("random081")
    more = more_runs("random081")
    assert len(more) == calibration.MORE_RUNS
    assert len({record.y.tobytes() for record in [test, *more]}) == 1 + len(more)
    assert facts["input"] == facts["test_input"]  # so their deviations are alike
    spread = np.std(np.concatenate([record.y for record in more]))
    assert 0.7 < spread / np.std(test.y) < 1.4
    kind = names(0)["kinds"][0]
    before = recording(kind)[1]
    assert len(more_runs(kind)) == calibration.MORE_RUNS
    np.testing.assert_array_equal(recording(kind)[1][0].y, before[0].y)
    assert not np.array_equal(more_runs(kind)[0].y, before[0].y)


@pytest.mark.parametrize("task", ["task-drift", "task-quad", "task-drives_sim", "task-tanks_sim"])
def test_a_simulated_task_is_run_ten_times_more(task: str) -> None:
    train, unseen, _ = recording(task)
    more = more_runs(task)
    assert {len(record) for record in more} == {calibration.MORE_ROWS}
    known = [*train, *unseen]
    assert len({record.y.tobytes() for record in [*known, *more]}) == len(known) + 10
    before = np.concatenate([record.y for record in known]).std(axis=0)
    ratios = np.concatenate([record.y for record in more]).std(axis=0) / before
    assert np.all((ratios > 0.7) & (ratios < 1.4))


def test_a_recording_has_no_more_runs() -> None:
    assert more_runs("task-actuator") == []


def test_options_are_read_as_values() -> None:
    assert options_of(["folds=5", "complexity='free'"]) == {"folds": 5, "complexity": "free"}


def test_rounding_keeps_four_digits_and_missing_values() -> None:
    values = np.array([1.23456789, -1e-7, np.nan, 0.0, 3e5])
    rounded = _rounded(values)
    np.testing.assert_allclose(rounded, values, rtol=2e-4)
    assert _rounded(np.array([3, 4])).dtype.kind == "i"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    results = Results(tmp_path_factory.mktemp("calibration"), calibration.FILE)
    kept = {"options": QUICK, "models": results.folder / "models"}
    jobs = [Job("random", "random081", **kept), Job("tasks", "task-nobody", **kept)]
    run_missing(jobs, results, work=work, blank=calibration.blank)
    return results


def test_a_failure_is_recorded_with_its_reason(done: Results) -> None:
    failed = [row for row in done.records.values() if row["outcome"] == "failed"]
    assert [row["name"] for row in failed] == ["task-nobody"]
    assert "KeyError" in failed[0]["reason"]


def test_what_is_kept_gives_the_scores_again(done: Results) -> None:
    """Stretches cover the training part once; the band times its factor covers what was scored."""
    record = next(row for row in done.records.values() if row["outcome"] == "ok")
    kept = done.arrays(record["key"])
    train, test, facts = recording("random081")
    assert record["facts"] == facts
    assert kept["held_rows"].sum() == len(train[0]) == len(kept["held_error"])
    np.testing.assert_allclose(
        np.sort(kept["held_y"][:, 0]), np.sort(kept["train_y"][:, 0]), atol=1e-3
    )
    assert kept["fold_mean"].shape == (2, len(test[0]), 1)
    assert kept["member_mean"].shape[0] == record["members"]
    means = kept["member_mean"].mean(axis=0)
    spread = np.sqrt((kept["member_std"] ** 2).mean(axis=0) + kept["member_mean"].var(axis=0))
    # 200 trajectories each: six standard errors of a mean
    assert np.abs(means - kept["test_mean"]).max() < 6 * (spread / np.sqrt(100)).max()
    z = np.abs(kept["test_measured"] - kept["test_mean"]) / (kept["test_std"] * record["factor"])
    assert np.mean(z <= 2.0) == pytest.approx(record["score"]["coverage_2sigma"], abs=0.06)
    size = Path(done.folder / "arrays" / f"{record['key']}.npz").stat().st_size
    assert size < 100_000


def test_kept_models_are_scored_again(done: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fitted; scores are those of the present code."""
    record = next(row for row in done.records.values() if row["outcome"] == "ok")
    monkeypatch.setattr("prssm.PRSSM.fit", None)
    job = Job("random", "random081", 0, QUICK, done.folder / "models", again=True)
    again = work(job)
    assert again.record["score_more"] == record["score_more"]
    assert not again.arrays
    monkeypatch.setattr("prssm.models.prssm.estimator.WITH_WITNESSES", 2.0)
    wider = work(job).record["score_more"]
    assert wider["coverage_2sigma"] > record["score_more"]["coverage_2sigma"]
