import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prssm.data.record import Record
from prssm.data.scaling import Scaler

SIZES = st.floats(1e-6, 1e6)


def _records(seed: int, spread: float, offset: float) -> list[Record]:
    rng = np.random.default_rng(seed)
    y = offset + spread * rng.standard_normal((30, 2))
    y[3, 0] = np.nan
    u = offset + spread * rng.standard_normal((30, 3))
    return [Record(u[:11], y[:11]), Record(u[11:], y[11:])]


@given(st.integers(0, 1000), SIZES, st.floats(-1e3, 1e3))
def test_training_data_become_zero_mean_unit_variance_and_come_back(seed, spread, offset):
    records = _records(seed, spread, offset)
    scaler = Scaler.fit(records)
    scaled = [scaler.scale(record) for record in records]
    u = np.concatenate([r.u for r in scaled])
    y = np.concatenate([r.y for r in scaled])
    rounding = 1e-10 * (1.0 + abs(offset) / spread)  # what subtracting the offset loses
    np.testing.assert_allclose(u.mean(axis=0), 0.0, atol=rounding)
    np.testing.assert_allclose(np.nanstd(y, axis=0), 1.0, atol=rounding)
    np.testing.assert_allclose(
        scaler.outputs(y), np.concatenate([r.y for r in records]), rtol=1e-12, atol=1e-12 * spread
    )


def test_deviations_scale_without_the_mean():
    scaler = Scaler(np.zeros(1), np.ones(1), np.array([5.0]), y_std=np.array([2.0]))
    np.testing.assert_array_equal(scaler.spreads(np.array([[0.5]])), [[1.0]])
    np.testing.assert_array_equal(scaler.outputs(np.array([[0.5]])), [[6.0]])


def test_other_data_are_scaled_with_the_training_statistics():
    scaler = Scaler.fit([Record([0.0, 2.0], [10.0, 30.0])])
    scaled = scaler.scale(Record([4.0, 4.0], [20.0, 40.0], 0.1, name="test"))
    np.testing.assert_allclose(scaled.u[:, 0], [3.0, 3.0])
    np.testing.assert_allclose(scaled.y[:, 0], [0.0, 2.0])
    assert (scaled.dt, scaled.name) == (0.1, "test")
    assert scaler.scale(Record([1.0, 1.0], None)).output_dim == 0


def test_without_normalisation_nothing_changes():
    record = _records(0, 3.0, 7.0)[0]
    scaled = Scaler.fit([record], normalise=False).scale(record)
    np.testing.assert_array_equal(scaled.u, record.u)
    np.testing.assert_array_equal(scaled.y, record.y)


def test_a_scaler_survives_its_arrays():
    scaler = Scaler.fit(_records(1, 2.0, 3.0))
    again = Scaler.from_arrays(scaler.to_arrays())
    for name, array in scaler.to_arrays().items():
        np.testing.assert_array_equal(getattr(again, name), array)
