"""What the default preset leaves to the data."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.models.prssm.config import DEFAULT, PAPER, RESOLVED


def records(*lengths, outputs=1):
    return [Record(np.zeros((length, 1)), np.zeros((length, outputs))) for length in lengths]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [((799,), (8, 2000, 6)), ((3999,), (10, 2000, 6)), ((2000, 2000), (10, 2000, 3))],
)
def test_long_data_have_fewer_folds_and_all_begin_small(lengths, sizes):
    config = DEFAULT.resolved(records(*lengths))
    assert (config.inducing, config.iterations, config.folds) == sizes


def test_all_rows_count_where_the_records_are_not_all():
    one_level = DEFAULT.replace(complexity="free")
    assert one_level.resolved(records(300), 10_000).inducing == 20


@pytest.mark.parametrize(("outputs", "dims"), [(1, 6), (3, 6), (4, 8)])
def test_there_are_two_states_for_each_output_and_six_at_least(outputs, dims):
    assert DEFAULT.resolved(records(500, outputs=outputs)).latent_dim == dims


@pytest.mark.parametrize(
    ("shortest", "horizon", "window"), [(500, 100, 16), (80, 40, 10), (40, 20, 5), (20, 10, 4)]
)
def test_the_shortest_record_bounds_the_horizon_and_the_recognition_window(
    shortest, horizon, window
):
    """Stretches that are held out have twice the window, and there are to be several."""
    config = DEFAULT.resolved(records(shortest, shortest, shortest + 7))
    assert (config.horizon, config.recognition_window) == (horizon, window)


@pytest.mark.parametrize(("rows", "window"), [(60, 15), (12, 4)])
def test_of_several_records_a_fourth_is_enough_since_whole_ones_are_held_out(rows, window):
    config = DEFAULT.resolved(records(rows, rows, rows, rows))
    assert (config.horizon, config.recognition_window) == (rows // 2, window)


def test_a_record_that_stands_for_a_stream_does_not_bound_the_recognition_window():
    config = DEFAULT.resolved(records(60), 10_000)
    assert (config.horizon, config.recognition_window) == (30, 16)


def test_a_stub_does_not_bound_the_horizon():
    config = DEFAULT.resolved(records(500, 9))
    assert (config.horizon, config.recognition_window) == (100, 16)


def test_what_the_user_said_stays():
    said = DEFAULT.replace(latent_dim=2, horizon=30, inducing=5, iterations=7, folds=0, neurons=3)
    assert said.resolved(records(10_000)) == said
    assert PAPER.resolved(records(10_000)) == PAPER


def test_everything_that_was_open_is_resolved():
    still_open = {name for name, value in vars(DEFAULT).items() if value is None}
    assert still_open - set(RESOLVED) == {"stride", "linear_order"}  # decided before and after
    config = DEFAULT.resolved(records(500))
    assert all(getattr(config, name) is not None for name in RESOLVED)
