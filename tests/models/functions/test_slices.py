"""Slices of the transition: those of a linear model are known in closed form."""

import dataclasses

import numpy as np
import pytest
from small_models import small_linear, small_record

from prssm.foundation.errors import DataError
from prssm.models.functions.slices import POINTS


@pytest.fixture(scope="module")
def model():
    return small_linear()


@pytest.fixture(scope="module")
def run(model):
    return model.simulate(small_record(model, rows=40))


def test_slices_of_a_linear_model_are_its_matrices(model, run) -> None:
    found = model.transition_slices(run, samples=0)
    assert found.names == ("state 1", "state 2", "valve 0")
    assert found.grid.shape == (3, POINTS)
    assert repr(found) == (
        "TransitionSlices(2 states over state 1, state 2, valve 0, 40 rows visited)"
    )
    scaler = model.scaler_
    for i in range(3):
        points = np.tile(found.at, (POINTS, 1))
        points[:, i] = found.grid[i]
        u = (points[:, 2:] - scaler.u_mean) / scaler.u_std
        expected = points[:, :2] @ model.system_.A.T + u @ model.system_.B.T
        np.testing.assert_allclose(found.band.middle[i], expected, atol=1e-12)
        assert found.grid[i, 0] < found.visited[:, i].min()
        assert found.grid[i, -1] > found.visited[:, i].max()
    slope = (found.influence() / np.ptp(found.grid, axis=1)[:, None]).T
    np.testing.assert_allclose(slope[:, :2], np.abs(model.system_.A))


def test_the_point_is_one_that_the_run_visited(model, run) -> None:
    found = model.transition_slices(run, samples=0)
    visited = np.concatenate([run.state_mean, run.inputs], axis=1)
    np.testing.assert_array_equal(found.visited, visited)
    assert np.any(np.all(visited == found.at, axis=1))


def test_a_run_without_states_or_of_another_model_is_refused(model, run) -> None:
    for states in (None, np.zeros((40, 5))):
        with pytest.raises(DataError, match="a run of this model with its 2 states"):
            model.transition_slices(dataclasses.replace(run, state_mean=states))
    lost = dataclasses.replace(run, state_mean=np.full((40, 2), np.nan))
    with pytest.raises(DataError, match="finite states, got none"):
        model.transition_slices(lost)
