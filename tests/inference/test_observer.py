"""The observer: the filter one sample at a time, which no bad sample can harm."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from small_spaces import NOISES, linear_space, measurements

import prssm
from prssm.data.domain import Domain
from prssm.data.scaling import Scaler
from prssm.foundation.errors import DataError, ModelFileError, OptionError
from prssm.inference.filtering import filter_rows
from prssm.inference.observer import Names, Observer

SCALER = Scaler(
    np.array([1.0, -2.0]), np.array([2.0, 0.5]), np.array([10.0, 20.0]), y_std=np.array([3.0, 0.1])
)
NAMES = Names(("a", "b"), ("p", "q"), 0.1)


def observer(stride: int = 1) -> Observer:
    return Observer(linear_space(), SCALER, Names(("a", "b"), ("p", "q"), 0.1, stride))


def samples(rows: int = 9):
    """In physical units."""
    u, y = measurements(rows)
    return u * SCALER.u_std + SCALER.u_mean, SCALER.outputs(y)


def fed(one: Observer) -> Observer:
    for u, y in zip(*samples(), strict=True):
        one.update(u, y)
    return one


def test_an_observer_is_the_filter_one_sample_at_a_time():
    one = fed(observer())
    exact = filter_rows(linear_space(), *measurements())
    np.testing.assert_allclose(one.state.mean, exact.filtered.mean[0, -1, :2])
    variance = np.diagonal(exact.filtered.covariance[0, -1])
    np.testing.assert_allclose(one.state.std, np.sqrt(variance[:2]))
    np.testing.assert_allclose(one.innovation.value, exact.seen.innovation[0, -1] * SCALER.y_std)
    scale = np.outer(SCALER.y_std, SCALER.y_std)
    np.testing.assert_allclose(one.innovation.variance, exact.seen.variance[0, -1] * scale)
    known = (~np.isnan(measurements()[1])).sum(axis=0)
    density = exact.evidence.sum() - known @ np.log(SCALER.y_std)
    assert one.log_likelihood == pytest.approx(density)
    assert one.rows == 9


def test_a_forecast_is_what_an_observer_without_measurements_expects():
    one = fed(observer())
    future = np.random.default_rng(3).standard_normal((6, 2))
    ahead = one.forecast(future)
    blind = one.copy()
    for row, u in enumerate(future):
        blind.update(u)
        np.testing.assert_allclose(ahead.mean[row], blind.output.mean)
        assert (ahead.std[row] > blind.output.std).all()  # with the sensors' noise
    count = 4000
    drawn = one.forecast(future, samples=count, seed=1)
    assert drawn.samples.shape == (count, 6, 2)
    error = np.abs(drawn.mean - ahead.mean) / ahead.std
    assert (error < 4.5 / np.sqrt(count)).all()
    np.testing.assert_allclose(drawn.std, ahead.std, rtol=4.5 / np.sqrt(2 * count))


@pytest.mark.parametrize(
    ("u", "y", "time", "message"),
    [
        ([1.0], [1.0, 2.0], None, r"expected u of shape \(2,\): a, b; got \(1,\)"),
        (None, [1.0, 2.0], None, r"expected u of shape \(2,\)"),
        ([1.0, 2.0], [1.0], None, r"expected y of shape \(2,\): p, q; got \(1,\)"),
        ([1.0, np.nan], [1.0, 2.0], None, "expected finite inputs"),
        ([1.0, 2.0], [np.inf, 2.0], None, "expected finite outputs or NaN"),
        ([1.0, 2.0], ["x", 2.0], None, "y is not an array of numbers"),
        ([1.0, 2.0], [1.0, 2.0], 0.9, "expected a time after 0.9 s, got 0.9 s"),
        ([1.0, 2.0], [1.0, 2.0], 1.2, "every 0.1 s as in training, got one after 0.3 s"),
        ([1.0, 2.0], [1.0, 2.0], np.nan, "expected a time in seconds"),
        ([1.0, 2.0], [1e200, 2.0], None, "the sample was not taken in"),
    ],
)
def test_a_bad_update_leaves_the_observer_as_it_was(u, y, time, message):
    one = fed(observer()).update([0.0, 0.0], [10.0, 20.0], time=0.9)
    before = one._memory
    with pytest.raises(DataError, match=message):
        one.update(u, y, time=time)
    assert one._memory is before


def test_a_forecast_beyond_the_training_inputs_is_marked_and_said_once():
    domain = Domain(np.array([[-1.0, -1.0], [1.0, 1.0]]))
    one = Observer(linear_space(), SCALER, NAMES, domain=domain)
    future = np.zeros((4, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = one.forecast(future)
    assert near.cautions == ()
    future[2:, 1] = 7.0
    with pytest.warns(prssm.PrssmWarning, match="forecast: input 'b' reaches 7, .*-1 to 1"):
        far = one.forecast(future)
    np.testing.assert_array_equal(far.inputs_outside, [False, False, True, True])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a controller asks often
        assert len(one.forecast(future).cautions) == 1


def test_bad_forecasts_are_refused():
    one = fed(observer())
    with pytest.raises(DataError, match=r"expected inputs \(rows, 2\), got an array of shape \(3,"):
        one.forecast(np.zeros((3, 1)))
    with pytest.raises(DataError, match="expected finite inputs"):
        one.forecast(np.full((3, 2), np.nan))
    with pytest.raises(OptionError, match="at least 2 trajectories"):
        one.forecast(np.zeros((3, 2)), samples=1)


def test_copies_part_and_files_bring_back(tmp_path):
    one = fed(observer())
    other = one.copy()
    other.update([0.0, 0.0], [11.0, 20.0])
    assert one.rows == 9
    assert other.rows == 10
    path = one.save(tmp_path / "now.prssm")
    assert path.stat().st_size < 8000
    again = observer().restore(path)
    again.update([0.0, 0.0], [11.0, 20.0])
    np.testing.assert_array_equal(again.state.mean, other.state.mean)
    assert again.log_likelihood == other.log_likelihood
    changed = replace(NOISES, process=2 * NOISES.process)
    with pytest.raises(ModelFileError, match="saved with another model"):
        Observer(linear_space(changed), SCALER, NAMES).restore(path)
    with pytest.raises(ModelFileError, match="no such file"):
        one.restore(tmp_path / "nothing.prssm")
    assert one.rows == 9


def test_a_slow_model_takes_a_step_in_several_rows():
    one = observer(stride=3)
    plain = observer()
    rng = np.random.default_rng(5)
    u = rng.standard_normal((10, 2))
    y = SCALER.outputs(rng.standard_normal((10, 2)))
    for row in range(10):
        one.update(u[row], y[row])
    for step in range(4):  # the same filter, told the means of the inputs
        rows = slice(3 * step, 3 * step + 3)
        plain.update(u[rows].mean(axis=0) if step < 3 else u[9], y[3 * step])
    # What a step's output owes to the input of its own row is known from that row alone.
    np.testing.assert_allclose(one.state.std, plain.state.std)
    assert np.abs(one.state.mean - plain.state.mean).max() < 0.5
    one.update(u[0], y[0])
    assert np.isnan(one.innovation.value).all()
    assert one.forecast(np.zeros((7, 2))).mean.shape == (7, 2)


def test_a_model_without_inputs_is_told_the_number_of_rows():
    rng = np.random.default_rng(6)
    model = prssm.LinearSSM(order=1, starts=1, random_starts=0).fit(
        prssm.Record(None, np.cumsum(rng.standard_normal(60)) * 0.1 + rng.standard_normal(60))
    )
    one = model.observer()
    one.update(y=0.3)
    one.update(y=None)
    assert one.forecast(rows=4).mean.shape == (4, 1)
    with pytest.raises(DataError, match="expected rows, a number of at least 1"):
        one.forecast()
