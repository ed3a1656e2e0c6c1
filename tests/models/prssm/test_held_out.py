"""What is held out of training stays out of training."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prssm
from prssm.data import windows
from prssm.data.record import Record
from prssm.foundation.precision import double_precision
from prssm.models.prssm import estimator
from prssm.models.prssm.config import DEFAULT, PAPER
from prssm.models.prssm.elbo import Anchor, Objective, Own, TrainingData
from prssm.models.prssm.filtering.members import FilterMembers
from prssm.models.prssm.filtering.noises import trained_noises
from prssm.models.prssm.fitting.held_out import Fold, always_shown, folds_of
from prssm.models.prssm.starts.start import random_model
from prssm.training.optimise import PerRestart


def records(*lengths):
    rng = np.random.default_rng(0)
    return [
        Record(rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), name=f"r{i}")
        for i, n in enumerate(lengths)
    ]


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(60, 120), min_size=1, max_size=7), count=st.integers(2, 3))
def test_every_row_is_held_out_once_and_no_window_begins_there(lengths, count):
    data = records(*lengths)
    cut = windows.sliding(data, 20)
    with double_precision():
        folds = folds_of(cut, data, count, window=5)
    assert len(folds) == count
    hidden = np.array([~np.asarray(fold.shown.rows) for fold in folds])
    np.testing.assert_array_equal(hidden.sum(axis=0), 1)
    for fold, rows in zip(folds, hidden, strict=True):
        starts = np.asarray(fold.shown.starts)
        assert len(starts) == len(cut.starts)
        # nor is a first state recognised from held-out outputs
        assert not rows[starts[:, None] + np.arange(5)].any()
        assert (~rows[starts[:, None] + np.arange(20)]).mean(axis=1).min() >= 0.5
        assert float(fold.shown.steps) == (~rows).sum() == sum(len(r) for r in fold.shown_records)
        assert sum(len(r) for r in fold.held_out_records) == rows.sum()


def test_held_out_outputs_do_not_enter_the_objective():
    data = records(90)
    with double_precision():
        cut = windows.sliding(data, 20)
        fold = folds_of(cut, data, 3, window=5)[1]
        model = jax.tree.map(
            jnp.asarray,
            random_model(
                PAPER.replace(recognition_window=5, inducing=3), 1, 1, np.random.default_rng(0)
            ),
        )
        objective = jax.jit(Objective(20, 8, 3, window=5))

        def value(y):
            shared = TrainingData.of(windows.sliding([Record(data[0].u, y)], 20))
            own = Own(
                fold.shown,
                Anchor.of(model),
                jnp.ones(()),
                anchor_precision=jnp.zeros(()),
                memory_weight=jnp.zeros(()),
            )
            return float(objective(model, PerRestart(shared, own), jax.random.key(0)))

        hidden = np.array(data[0].y)
        seen = np.array(data[0].y)
        hidden[~np.asarray(fold.shown.rows)] += 100.0
        seen[np.asarray(fold.shown.rows)] += 0.1
        assert value(hidden) == value(data[0].y)
        assert value(seen) != value(data[0].y)


def test_with_nothing_held_out_the_objective_is_the_plain_one():
    data = records(40)
    with double_precision():
        cut = windows.sliding(data, 20)
        model = jax.tree.map(
            jnp.asarray,
            random_model(
                PAPER.replace(recognition_window=5, inducing=3), 1, 1, np.random.default_rng(0)
            ),
        )
        shared = TrainingData.of(cut)
        objective = jax.jit(Objective(20, 4, 3, window=5))
        everything = Fold.nothing_held_out(cut).shown
        whole = PerRestart(
            shared,
            Own(
                everything,
                Anchor.of(model),
                jnp.ones(()),
                anchor_precision=jnp.zeros(()),
                memory_weight=jnp.zeros(()),
            ),
        )
        assert float(objective(model, whole, jax.random.key(0))) == float(
            objective(model, shared, jax.random.key(0))
        )


def test_short_records_are_held_out_in_fewer_stretches():
    data = records(100)
    with double_precision():
        folds = folds_of(windows.sliding(data, 20), data, 6, window=16)
    assert [len(fold.held_out_records[0]) for fold in folds] == [33, 33, 34]


def test_forty_rows_are_enough_to_hold_some_out():
    data = records(40)
    config = DEFAULT.resolved(data)
    with double_precision():
        folds = folds_of(
            windows.sliding(data, config.horizon), data, 6, window=config.recognition_window
        )
    assert [len(fold.held_out_records[0]) for fold in folds] == [10, 10, 10, 10]


@pytest.mark.parametrize(("length", "count"), [(40, 2), (90, 0)])
def test_short_data_and_zero_folds_hold_nothing_out(length, count):
    data = records(length)
    with double_precision():
        assert folds_of(windows.sliding(data, 20), data, count, window=16) == []


def test_a_record_that_is_too_short_is_always_shown():
    data = records(90, 24, 120)
    with double_precision():
        folds = folds_of(windows.sliding(data, 20), data, 3, window=8)
    assert len(folds) == 3
    hidden = np.sum([~np.asarray(fold.shown.rows) for fold in folds], axis=0)
    expected = np.ones(len(hidden))
    expected[90 : 90 + 24] = 0
    np.testing.assert_array_equal(hidden, expected)
    for fold in folds:
        assert any(len(part) == 24 for part in fold.shown_records)
        assert [stretch.record for stretch in fold.stretches] == [0, 2]
    assert always_shown(folds, data) == 1
    assert always_shown([], data) == 0


def test_a_fit_says_that_nothing_could_be_held_out():
    rng = np.random.default_rng(0)
    short = Record(rng.normal(size=(12, 1)), rng.normal(size=(12, 1)), name="log")
    options = {"latent_dim": 1, "linear_order": 1, "inducing": 3, "iterations": 1, "restarts": 1}
    with pytest.warns(prssm.PrssmWarning, match="log: 12 rows are too few to hold some out"):
        prssm.PRSSM(**options, complexity="held").fit(short)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prssm.PRSSM(**options, complexity="held", folds=0).fit(short)  # who asks for it knows


def quick_filters(last, window, pace):
    """The filter keeps the noises of training: to look for better ones takes seconds."""
    models = last.choice.mixture.models
    return FilterMembers.equal(models, trained_noises(models))


def test_a_short_record_among_others_leaves_a_choice_and_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(estimator, "filter_members", quick_filters)
    rng = np.random.default_rng(0)

    def lag(rows):
        u = rng.normal(size=(rows, 1))
        y = np.zeros((rows, 1))
        for t in range(1, rows):
            y[t] = 0.8 * y[t - 1] + np.tanh(u[t - 1])
        return Record(u, y + 0.05 * rng.normal(size=y.shape))

    options = {"latent_dim": 1, "linear_order": 1, "inducing": 3, "iterations": 2, "restarts": 1}
    options |= {"folds": 2, "neurons": 0, "complexity": "free", "recognition_window": 4}
    options |= {"fold_restarts": 1, "horizon": 10}
    model = prssm.PRSSM(**options).fit([lag(100), lag(12), lag(100)])
    assert np.isfinite(model.held_out_["free"]["typical"])
    assert dict(model.findings())["Held out"].startswith("1 record(s) never")
    again = prssm.load(model.save(tmp_path / "m.prssm"))
    assert again.findings() == model.findings()
    again.always_shown_ = 0
    assert "Held out" not in dict(again.findings())
