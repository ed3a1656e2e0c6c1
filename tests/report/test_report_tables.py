"""Tables: the best is marked by the metric's own direction, and every form carries the same
numbers.
"""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.prediction.metrics import COVERAGE_LEVELS, evaluate
from prssm.prediction.prediction import Prediction
from prssm.report.tables import (
    METRICS,
    MISSING,
    ScoreRow,
    Table,
    metric_table,
    print_table,
    score_table,
    to_csv,
    to_markdown,
)

ROWS = [
    ScoreRow("constant", {"rmse": 2.0, "fit_percent": 1.0, "coverage_95": 0.99}),
    ScoreRow("linear", {"rmse": 1.0, "fit_percent": 50.0, "coverage_95": 0.60}),
    ScoreRow("prssm", {"rmse": math.nan, "fit_percent": 40.0, "coverage_95": 0.93}),
]


def best_of(key: str) -> set[str]:
    table = score_table(ROWS, metrics=[key])
    return {ROWS[i].label for i, j in table.best if j == 1}


def test_best_is_lowest_highest_or_nearest_to_what_was_promised() -> None:
    assert best_of("rmse") == {"linear"}
    assert best_of("fit_percent") == {"linear"}
    assert best_of("coverage_95") == {"prssm"}


def test_nothing_is_best_alone() -> None:
    assert score_table(ROWS[:1]).best == frozenset()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6))
def test_marked_cells_are_the_minimum(values: list[float]) -> None:
    table = score_table(
        [ScoreRow(str(i), {"rmse": v}) for i, v in enumerate(values)], metrics=["rmse"]
    )
    assert {i for i, _ in table.best} == {i for i, v in enumerate(values) if v == min(values)}


def test_a_failed_method_is_a_row_with_its_reason() -> None:
    table = score_table([*ROWS, ScoreRow("other", {}, "failed: no luck")], metrics=["rmse"])
    assert table.header[-1] == "note"
    assert [table.text(3, j) for j in range(3)] == ["other", "n/a", "failed: no luck"]


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_csv_keeps_every_digit(values: list[float]) -> None:
    table = Table("t", ["name", "value"], [['a,"b', value] for value in values])
    read = list(csv.reader(io.StringIO(to_csv(table))))[1:]
    assert [row[0] for row in read] == ['a,"b'] * len(values)
    assert [row[1] for row in read] == [repr(v) if math.isfinite(v) else "" for v in values]


def test_markdown_aligns_escapes_and_marks() -> None:
    text = to_markdown(
        Table("t", ["a|b", "x"], [["p", 1.0], ["q", 2.0]], {1: ".2f"}, frozenset({(0, 1)}))
    )
    assert text.splitlines() == ["| a\\|b | x |", "|---|---:|", "| p | **1.00** |", "| q | 2.00 |"]


def test_printed_table_takes_names_literally_and_does_not_fold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long_text = "[red]no markup[/red] " + "word " * 25
    print_table(Table("title", ["a", "b"], [["x", long_text], ["y", 0.5]]))
    out = capsys.readouterr().out
    assert long_text.strip() in out
    assert "0.5" in out


def test_metric_table_has_every_metric_of_the_library() -> None:
    rows = 60
    measured = np.random.default_rng(0).normal(size=(rows, 1))
    flat = np.zeros((rows, 1))
    run = Prediction(mean=flat, std=flat + 1.0, measured=measured, inputs=flat, warmup=5)
    scores = evaluate([run], np.ones(1))
    assert set(scores) == set(METRICS)
    table = metric_table(scores)
    titles = [table.text(i, 0) for i in range(len(table.rows))]
    assert titles == [METRICS[key].title for key in scores]
    assert MISSING not in [table.text(i, 1) for i in range(len(table.rows))]


def test_shares_of_the_band_are_compared_with_their_level() -> None:
    for level in COVERAGE_LEVELS:
        assert METRICS[f"coverage_{round(100 * level)}"].target == level


def test_a_metric_is_rounded_and_a_missing_one_is_said() -> None:
    table = metric_table({"rmse": 0.123456, "fit_percent": math.nan})
    assert [table.text(i, 1) for i in range(2)] == ["0.1235", "n/a"]
