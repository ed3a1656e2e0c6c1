"""Figures over seeds: what failed is counted, not averaged; who is best follows from the figures
alone.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.evaluation.benchmark.summary import SeedScores, best_two, failures, on_test, summarise


def _experiment(label, dataset, seed):
    return SimpleNamespace(
        key=f"{label}{dataset}{seed}",
        variant=SimpleNamespace(label=label),
        dataset=dataset,
        seed=seed,
    )


def _ok(value):
    return {"outcome": "ok", "metrics": {"test": {"rmse": value}}}


PLANNED = [
    _experiment(label, dataset, seed)
    for seed in range(3)
    for label in "ab"
    for dataset in ("x", "y")
]
RECORDS = {
    "ax0": _ok(1.0),
    "ax1": _ok(2.0),
    "ax2": _ok(4.0),
    "ay0": _ok(1.0),
    "ay1": {"outcome": "failed", "reason": "why"},
    "ay2": _ok(3.0),
    "bx0": _ok(5.0),
    "by0": _ok(None),
    "other": _ok(99.0),
}


def test_mean_and_deviation_over_seeds_without_failed_and_missing():
    cells = summarise(PLANNED, RECORDS, on_test("rmse"))
    assert cells["a"]["x"] == SeedScores((1.0, 2.0, 4.0))
    assert cells["a"]["x"].mean == pytest.approx(np.mean([1, 2, 4]))
    assert cells["a"]["x"].std == pytest.approx(np.std([1, 2, 4], ddof=1))
    assert cells["a"]["y"] == SeedScores((1.0, 3.0), failed=1)
    assert cells["b"]["x"] == SeedScores((5.0,), missing=2)
    assert cells["b"]["x"].std is None
    assert cells["b"]["y"] == SeedScores((), missing=3)
    assert cells["b"]["y"].mean is None


def test_only_complete_cells_are_compared():
    assert SeedScores((1.0,)).comparable
    assert not SeedScores((1.0,), failed=1).comparable
    assert not SeedScores((1.0,), missing=1).comparable
    assert not SeedScores(()).comparable


def test_failures_are_listed_with_their_reason():
    assert [(e.key, why) for e, why in failures(PLANNED, RECORDS)] == [("ay1", "why")]


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5).map(float), max_size=6))
def test_best_and_second_best(costs):
    best, second = best_two(costs)
    assert bool(best) == bool(costs)
    assert not best & second
    for name, cost in costs.items():
        better = [other for other in costs.values() if other < cost]
        assert (name in best) == (not better)
        assert (name in second) == (len(better) == 1)
