"""The study of runs from few rows: which model is compared with which, and how it is told."""

import numpy as np
import pytest
import short_starts
from fitted_models import random_prssm, record_for

import prssm

ROWS = 40


@pytest.fixture(scope="module")
def model():
    found = random_prssm()
    rng = np.random.default_rng(1)
    seen = prssm.Record(rng.standard_normal((ROWS, 1)), rng.standard_normal((ROWS, 1)))
    found.mixture_ = found.mixture_.having_seen([seen])
    return found


def test_the_error_counts_all_pieces_in_units_of_training(model):
    u, y = record_for(model)
    piece = prssm.Record(u, y)
    run = model.simulate(piece, start=2)
    expected = np.sqrt(np.mean(((run.measured - run.mean) / model.scaler_.y_std) ** 2))
    assert short_starts.error(model, [piece, piece], 2) == pytest.approx(expected)


def test_beside_it_stands_the_same_model_without_the_prior(model):
    beside = short_starts.forgetful(model)
    assert beside.mixture_.usual is None
    assert model.mixture_.usual is not None
    u, y = record_for(model)
    piece = prssm.Record(u, y)
    full = model.warmup
    assert short_starts.error(beside, [piece], full) == short_starts.error(model, [piece], full)
    assert short_starts.error(beside, [piece], 1) != short_starts.error(model, [piece], 1)


def test_the_ratio_is_a_geometric_mean():
    known = [1.0, 2.0, 3.0, 4.0]
    rows = [
        {"set": "drives", "known": known, "unknown": [2.0, 2.0, 3.0, 4.0]},
        {"set": "310", "known": known, "unknown": [0.5, 2.0, 3.0, 4.0]},
    ]
    lines = short_starts.report(rows).splitlines()
    assert lines[0] == "| rows read | drives | system 310 | ratio |"
    assert lines[2].endswith("| 1.000 (2.000) | 1.000 (0.500) | 1.00 |")
