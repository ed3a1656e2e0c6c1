"""The states that training has shown: a prior of runs of which little is known."""

import numpy as np
import pytest
from fitted_models import random_prssm, record_for
from small_models import small_prssm

import prssm
from prssm.foundation.errors import ModelFileError
from prssm.models.prssm.filtering.usual_states import usual_from, usual_states
from prssm.models.prssm.starts.recognised import windows_of

ROWS = 60


def scaled_record(model):
    rng = np.random.default_rng(3)
    y = rng.standard_normal((ROWS, len(model.output_names_)))
    y[5] = np.nan
    return prssm.Record(rng.standard_normal((ROWS, len(model.input_names_))), y)


def test_they_are_those_that_each_member_recognises():
    model = small_prssm()
    mixture = model.mixture_
    record = scaled_record(model)
    filled = record.outputs_filled()
    ends = range(mixture.window, ROWS + 1)
    firsts = [
        mixture.first_states(record.u[end - mixture.window : end], part)[0]
        for end in ends
        for part in [filled[end - mixture.window : end]]
    ]
    x = np.stack(firsts, axis=1)
    usual = mixture.having_seen([record]).usual
    np.testing.assert_allclose(usual.mean, x.mean(axis=1), atol=1e-12)
    for member, factor in enumerate(usual.factor):
        spread = np.cov(x[member], rowvar=False)
        np.testing.assert_allclose(factor @ factor.T, spread, atol=2e-6 * np.trace(spread))


def test_some_members_keep_theirs():
    mixture = small_prssm().mixture_
    usual = mixture.having_seen([scaled_record(small_prssm())])
    np.testing.assert_array_equal(usual.only(1).usual.mean, usual.usual.mean[1:2])


def test_few_rows_tell_none():
    model = small_prssm()
    mixture = model.mixture_
    few = scaled_record(model)[: mixture.window + 1]
    assert usual_states(mixture.models, mixture.window, [few]) is None
    assert usual_states(mixture.models, 0, [scaled_record(model)]) is None


def test_a_file_keeps_them_and_one_without_them_still_runs(tmp_path):
    model = random_prssm()
    u, y = record_for(model)
    before = model.simulate(u, y, start=2)
    without = prssm.load(model.save(tmp_path / "without.prssm"))
    assert without.mixture_.usual is None
    np.testing.assert_array_equal(without.simulate(u, y, start=2).mean, before.mean)
    model.mixture_ = model.mixture_.having_seen([scaled_record(model)])
    after = model.simulate(u, y, start=2)
    assert not np.array_equal(after.mean, before.mean)
    again = prssm.load(model.save(tmp_path / "with.prssm"))
    np.testing.assert_array_equal(again.simulate(u, y, start=2).mean, after.mean)


def test_a_factor_without_an_inverse_is_refused(tmp_path):
    model = random_prssm()
    mixture = model.mixture_.having_seen([scaled_record(model)])
    mixture.usual.factor[0, 0, 0] = 0.0
    model.mixture_ = mixture
    path = model.save(tmp_path / "broken.prssm")
    with pytest.raises(ModelFileError, match="expected factors of covariances"):
        prssm.load(path)
    assert usual_from({}, "usual", 1, states=2) is None


def test_windows_are_from_all_over_the_records():
    records = [prssm.Record(np.zeros((rows, 1)), np.zeros((rows, 1))) for rows in (50, 3, 30)]
    samples, places = windows_of(records, 5, most=10)
    assert samples.shape == (len(places), 10)
    assert {number for number, _ in places} == {0, 2}
    assert max(begin for number, begin in places if number == 0) > 35
