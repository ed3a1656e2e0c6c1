"""Long recordings at a slower rate, and back at every row."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.data.resample import at_all_rows, checked_stride, chosen_stride, thinned, thinned_inputs
from prssm.foundation.errors import OptionError


def sine(period, rows=20_000, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sqrt(2.0) * np.sin(2.0 * np.pi * np.arange(rows) / period) + noise * rng.normal(
        size=rows
    )
    return Record(rng.normal(size=rows), y)


@pytest.mark.parametrize(("period", "expected"), [(50, 1), (400, 6), (1000, 15)])
def test_a_sine_keeps_63_steps_a_period(period, expected):
    """It leaves a line over two steps s by 1 - cos(2 pi s / period) of itself, which may be 0.005:
    s = period / 62.8.
    """
    assert chosen_stride([sine(period)]) == expected


def test_at_least_a_thousand_rows_are_left_and_a_hundred_of_each_record():
    assert chosen_stride([sine(100_000)]) == 20
    assert chosen_stride([sine(100_000, rows=1_999)]) == 1
    assert chosen_stride([sine(100_000), sine(100_000, rows=700)]) == 7


def test_white_noise_of_the_sensor_does_not_hide_the_slowness_but_a_fast_output_stays_as_it_is():
    assert chosen_stride([sine(5000, noise=0.05)]) == 20
    assert chosen_stride([sine(5000, noise=0.5)]) == 1  # half of it may be signal
    assert chosen_stride([Record(None, np.random.default_rng(0).normal(size=20_000))]) == 1


def test_the_fastest_output_decides_and_missing_values_do_not_count():
    slow = sine(5000)
    fast = sine(400)
    assert chosen_stride([Record(slow.u, np.concatenate([slow.y, fast.y], axis=1))]) == 6
    holes = np.array(slow.y)
    holes[::10] = np.nan
    assert chosen_stride([Record(slow.u, holes)]) == 20
    holes[1::2] = np.nan  # no row has a neighbour: nothing can be told
    assert chosen_stride([Record(slow.u, holes)]) == 1


def test_outputs_are_picked_and_inputs_averaged():
    record = Record(
        np.arange(8.0),
        np.arange(8.0) ** 2,
        dt=0.1,
        input_names=["a"],
        output_names=["b"],
        name="run",
    )
    slow = thinned(record, 3)
    np.testing.assert_array_equal(slow.u[:, 0], [1.0, 4.0, 6.5])  # of rows 0 to 2, 3 to 5, 6 and 7
    np.testing.assert_array_equal(slow.y[:, 0], [0.0, 9.0, 36.0])
    assert slow.dt == pytest.approx(0.3)
    assert (slow.input_names, slow.output_names, slow.name) == (("a",), ("b",), "run")
    assert thinned(record, 1) is record


@pytest.mark.parametrize("rows", [2, 3, 4, 6, 7, 8])
def test_a_slow_run_reaches_every_row(rows):
    """What is straight between steps comes back exactly, whatever the last step has of rows."""
    steps = len(thinned_inputs(np.zeros((rows, 1)), 3))
    assert (steps - 2) * 3 < rows - 1 <= (steps - 1) * 3
    line = 2.0 * np.arange(steps)[:, None] * 3 + 1.0
    back = at_all_rows(np.stack([line, -line]), 3, rows)
    np.testing.assert_allclose(back[0, :, 0], 2.0 * np.arange(rows) + 1.0)
    np.testing.assert_allclose(back[1], -back[0])


def test_a_quarter_of_the_shortest_record_is_the_most_that_a_user_may_ask_for():
    records = [sine(50, rows=100), sine(50, rows=41).renamed("short.csv")]
    assert checked_stride(10, records) == 10
    assert checked_stride(None, records) is None
    assert checked_stride(1, [sine(50, rows=3)]) == 1
    with pytest.raises(
        OptionError,
        match=r"stride: expected at most 10, a quarter of the 41 rows of short.csv, got 11",
    ):
        checked_stride(11, records)
