"""The benchmark's tables: the numbers are the records', ours stand beside the paper's, and only
complete rows are marked.
"""

import csv
import io
import statistics

import benchmark_fakes
import pytest

from prssm.evaluation.benchmark.plan import Experiment, experiments, variant_of
from prssm.evaluation.benchmark.published import published
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.report.benchmark import tables
from prssm.report.tables import to_markdown

SPECS = ("constant", "prssm", "prssm:offset=3.5", "prssm:behave=raise")


@pytest.fixture
def ran(monkeypatch, tmp_path):
    benchmark_fakes.install(monkeypatch)
    planned = experiments(["drives", "toy"], [variant_of(spec) for spec in SPECS], 3)
    results = Results(tmp_path)
    run_all(planned, results)
    return planned, results.records


def _row(table, label):
    (row,) = [row for row in table.rows if row[0] == label]
    return dict(zip(table.header, row, strict=True))


def test_ours_stand_beside_the_paper(ran):
    table = tables.rmse_table(*ran)
    assert table.header == ["", "drives", "toy"]
    assert [row[0] for row in table.rows][: len(SPECS)] == list(SPECS)
    assert _row(table, "PR-SSM (paper)") == {
        "": "PR-SSM (paper)",
        "drives": "0.492 (0.038)",
        "toy": None,
    }
    assert _row(table, "NIGP (paper)")["drives"] == "0.373 (0.000)"
    other = tables.rmse_table(*ran, published().settings["unnormalised-mean"])
    assert _row(other, "REVARB 2 (paper)")["drives"] == "0.282 (0.031)"


def test_mean_and_deviation_are_those_of_the_records(ran):
    planned, records = ran
    values = [
        records[Experiment("toy", variant_of("prssm"), seed).key]["metrics"]["test"]["rmse"]
        for seed in range(3)
    ]
    expected = f"{statistics.fmean(values):.3f} ({statistics.stdev(values):.3f})"
    assert _row(tables.rmse_table(planned, records), "prssm")["toy"] == expected


def test_best_and_second_best_are_marked_over_ours_and_the_papers(ran):
    table = tables.rmse_table(*ran)
    labels = [row[0] for row in table.rows]
    assert (labels.index("NIGP (paper)"), 1) in table.best
    assert (labels.index("MSGP (paper)"), 1) in table.second
    assert (labels.index("prssm:offset=3.5"), 2) in table.best  # 3.5 is the middle of 0..7
    assert (labels.index("prssm"), 2) in table.second
    assert len(table.best) == len(table.second) == 2
    assert "**0.373 (0.000)**" in to_markdown(table)
    assert "*0.451 (0.021)*" in to_markdown(table)


def test_failed_runs_are_counted_and_never_marked(ran):
    planned, records = ran
    table = tables.rmse_table(planned, records)
    assert _row(table, "prssm:behave=raise")["toy"] == "no value, 3 of 3 failed"
    key = Experiment("toy", variant_of("prssm:offset=3.5"), 0).key
    broken = records | {
        key: records[key] | {"outcome": "failed", "reason": "killed", "metrics": None}
    }
    table = tables.rmse_table(planned, broken)
    assert _row(table, "prssm:offset=3.5")["toy"].endswith(", 1 of 3 failed")
    labels = [row[0] for row in table.rows]
    assert (labels.index("prssm"), 2) in table.best  # survivors do not win
    reasons = tables.failure_table(planned, broken)
    assert ["toy", "prssm:offset=3.5", 0, "killed"] in reasons.rows
    assert len(reasons.rows) == 7


def test_no_failure_no_table(ran):
    planned, records = ran
    assert tables.failure_table([e for e in planned if e.variant.label == "prssm"], records) is None


def test_coverage_and_likelihood(ran):
    planned, records = ran
    test = records[Experiment("toy", variant_of("constant"), 0).key]["metrics"]["test"]
    shares = [round(100 * test[f"coverage_{level}"]) for level in (50, 80, 95)]
    assert _row(tables.coverage_table(planned, records), "constant")[
        "toy"
    ] == "{} / {} / {} %".format(*shares)
    likelihood = tables.likelihood_table(planned, records)
    assert _row(likelihood, "constant")["toy"] == f"{test['log_likelihood_scaled']:.3f} (0.000)"
    assert _row(likelihood, "published PR-SSM code, rerun")["drives"] == "-2.83"
    assert (
        _row(tables.coverage_table(planned, records), "prssm:behave=raise")["toy"]
        == "no value, 3 of 3 failed"
    )
    labels = [row[0] for row in likelihood.rows]
    assert (labels.index("prssm:offset=3.5"), 2) in likelihood.best  # higher is better


def test_cost_is_told_by_data_set_and_for_the_whole_row(ran):
    planned, records = ran
    row = _row(tables.cost_table(planned, records), "prssm")
    keys = [e.key for e in planned if e.variant.label == "prssm"]
    assert (
        row["all runs and sets"]
        == f"{sum(sum(records[key]['seconds'].values()) for key in keys):.1f}"
    )
    assert row["device"] == records[keys[0]]["device"]
    slow = {
        key: records[key] | {"seconds": {"fit": 7.0, "simulate_test": None}, "device": "abacus"}
        for key in keys
    }
    row = _row(tables.cost_table(planned, records | slow), "prssm")
    # 2 sets, 3 seeds
    assert (row["drives"], row["all runs and sets"], row["device"]) == (
        "7.0 (0.0)",
        "42.0",
        "abacus",
    )


def test_csv_has_every_experiment_with_its_metrics(ran):
    planned, records = ran
    lines = list(csv.DictReader(io.StringIO(tables.experiments_csv(planned, records))))
    assert [line["key"] for line in lines] == [experiment.key for experiment in planned]
    first = lines[0]
    assert float(first["test_rmse"]) == records[first["key"]]["metrics"]["test"]["rmse"]
    failed = [line for line in lines if line["outcome"] == "failed"]
    assert len(failed) == 6
    assert all(line["test_rmse"] == "" and "no luck" in line["reason"] for line in failed)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0731, "0.073"),
        (411.55, "411.6"),
        (0.0, "0.000"),
        (1.2e-4, "0.00012"),
        (3.2e9, "3.2e+09"),
        (-2.834, "-2.834"),
    ],
)
def test_numbers_are_printed_as_in_the_paper(value, text):
    assert tables.mean_std(value, None) == f"{text} (-)"


def test_a_deviation_has_as_many_decimals_as_its_mean():
    assert tables.mean_std(411.55, 0.04) == "411.6 (0.0)"
    assert tables.mean_std(0.502, 0.0004) == "0.502 (0.000)"
