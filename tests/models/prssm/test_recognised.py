"""Recognition models of known states, and networks as PR-SSMs."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.dynamics.networks.equations import plain_run
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.linear.system import LinearSystem
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.starts import network_start
from prssm.models.prssm.starts.network_start import (
    Size,
    TrainedNetwork,
    begun,
    improved,
    larger,
    network_model,
    on_records,
)
from prssm.models.prssm.starts.recognised import first_state, recognition_from
from prssm.models.prssm.starts.start import stacked

WINDOW = 5


def known_states(lengths, inputs=1, outputs=1, states=2, *, seed=0):
    """Records whose states are an affine function of the next samples."""
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=(states, WINDOW * (inputs + outputs)))
    bias = rng.normal(size=states)
    records = [
        Record(rng.normal(size=(rows, inputs)), rng.normal(size=(rows, outputs)))
        for rows in lengths
    ]
    paths = []
    for record in records:
        x = np.full((len(record), states), np.nan)  # what no window begins with must not be read
        for row in range(len(record) - WINDOW + 1):
            part = slice(row, row + WINDOW)
            seen = np.concatenate([record.y[part].ravel(), record.u[part].ravel()])
            x[row] = weight @ seen + bias
        paths.append(x)
    return records, paths


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (0, 1), (2, 3)])
def test_an_affine_map_is_recovered(inputs, outputs):
    records, paths = known_states((120, 80), inputs, outputs)
    rng = np.random.default_rng(1)
    found = recognition_from(records, paths, WINDOW, hidden=4, rng=rng)
    others, expected = known_states((30,), inputs, outputs)  # the same map, other samples
    for record, x in zip(others, expected, strict=True):
        np.testing.assert_allclose(first_state(found, record, WINDOW), x[0], atol=1e-5)


def test_its_deviation_is_that_of_what_it_cannot_know():
    records, paths = known_states((3000,))
    rng = np.random.default_rng(2)
    noisy = [x + [0.5, 0.05] * rng.normal(size=x.shape) for x in paths]
    found = recognition_from(records, noisy, WINDOW, hidden=4, rng=rng)
    # of 600 windows, a deviation is known to three per cent
    np.testing.assert_allclose(np.exp(found.log_std_bias), [0.5, 0.05], rtol=0.15)


@pytest.mark.parametrize("lengths", [(3,), (3, 4), (5,), (6,), (3, 40)])
def test_short_records_are_no_trouble(lengths):
    records, paths = known_states(lengths)
    found = recognition_from(records, paths, WINDOW, hidden=4, rng=np.random.default_rng(3))
    for record in records:
        assert np.isfinite(first_state(found, record, WINDOW)).all()
    assert np.isfinite(found.log_std_bias).all()
    if max(lengths) < WINDOW:
        np.testing.assert_array_equal(first_state(found, records[0], WINDOW), [0.0, 0.0])


def test_missing_outputs_are_filled():
    records, paths = known_states((60,))
    y = records[0].y.copy()
    y[[0, 7, 8, 30]] = np.nan
    record = Record(records[0].u, y)
    found = recognition_from([record], paths, WINDOW, hidden=4, rng=np.random.default_rng(4))
    assert np.isfinite(first_state(found, record, WINDOW)).all()


# ---- networks ----

LINEAR = LinearSystem(
    np.array([[0.8, 0.3], [-0.3, 0.6]]),
    np.array([[0.5], [0.7]]),
    np.array([[1.0, 0.2]]),
    D=np.zeros((1, 1)),
    offset=np.array([0.1]),
)


def oscillating(rows=200, seed=5):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(rows, 1))
    y, _ = LINEAR.simulate(np.array([0.4, -0.2]), u)
    return Record(u, y)


def errors(network):
    found = []
    for record, first in zip(network.records, network.firsts, strict=True):
        row = np.append(network.system.row(), first)
        found.append(plain_run(row, network.system.shape, record.u)[1] - record.y)
    return np.concatenate(found)


def test_networks_begin_and_grow_as_the_linear_system():
    network = begun(LINEAR, [oscillating()], Size(2, 3), seed=[0])
    assert np.abs(errors(network)).max() < 1e-9
    wider = larger(network, Size(4, 6), seed=[0])
    assert wider.system.shape == Shape(4, 1, 1, 6)
    assert np.abs(errors(wider)).max() < 1e-9
    assert improved(wider, 3).rmse < 1e-9


def test_fewer_states_than_the_linear_system_has_are_not_begun_with():
    assert begun(LINEAR, [oscillating()], Size(1, 0), seed=[0]).system.shape.states == 2


def test_first_states_in_other_records_are_recognised():
    network = begun(LINEAR, [oscillating()], Size(2, 3), seed=[0])
    other = oscillating(seed=6)
    moved = on_records(network, [other, other[100:150]], WINDOW, seed=[0])
    assert np.sqrt(np.mean(errors(moved) ** 2)) < 1e-3


def test_a_first_state_from_which_a_run_is_lost_is_not_begun_with(monkeypatch):
    network = begun(LINEAR, [oscillating()], Size(2, 3), seed=[0])
    monkeypatch.setattr(network_start, "first_state", lambda *given: np.array([1e9, 0.0]))
    moved = on_records(network, [oscillating(seed=6)], WINDOW, seed=[0])
    np.testing.assert_array_equal(moved.firsts, [[0.0, 0.0]])
    assert np.isfinite(improved(moved, 2).rmse)


def test_a_network_as_a_model_gives_the_free_run_of_the_network():
    rng = np.random.default_rng(7)
    shape = Shape(3, 1, 2, 4)
    system = NetworkSystem.of_row(0.4 * rng.normal(size=shape.shared), shape).within(0.9)
    record = Record(rng.normal(size=(90, 1)), np.zeros((90, 2)))
    first = rng.normal(size=3)
    x, y = plain_run(np.append(system.row(), first), shape, record.u)
    seen = Record(record.u, y)
    network = TrainedNetwork(system, [seen], first[None], rmse=0.01)
    config = DEFAULT.resolved([seen]).replace(
        latent_dim=3, neurons=4, inducing=1, recognition_window=WINDOW, recognition_hidden=8
    )
    model = network_model(config, network, rng)
    mixture = Mixture(stacked([model]), WINDOW, config.draws)
    run = mixture.run(record.u, y[:WINDOW], 50, 0)
    # the first state is known to the sensors' noise, which is 0.01
    np.testing.assert_allclose(run.mean, y, atol=0.02)
    np.testing.assert_allclose(np.exp(model.log_output_std), 0.01)
    assert x.shape == (90, 3)
