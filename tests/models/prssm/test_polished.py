"""First states of networks: the most likely ones, in coordinates that are told apart."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from prssm.data.record import Record
from prssm.dynamics.networks.equations import plain_run
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.filtering.polished import is_network, polished
from prssm.models.prssm.filtering.short_start import Firsts
from prssm.models.prssm.starts.network_start import TrainedNetwork, network_model, well_recognised
from prssm.models.prssm.starts.start import stacked

WINDOW = 12
SHAPE = Shape(3, 1, 2, 4)
NOISE = 0.05


@pytest.fixture(scope="module")
def network():
    """A network with its run over 400 rows, seen with noise."""
    rng = np.random.default_rng(1)
    row = 0.5 * rng.normal(size=SHAPE.shared)
    system = NetworkSystem.of_row(row, SHAPE).within(0.9)
    first = rng.normal(size=3)
    u = rng.normal(size=(400, 1))
    y = plain_run(np.append(system.row(), first), SHAPE, u)[1]
    record = Record(u, y + NOISE * rng.normal(size=y.shape))
    return TrainedNetwork(system, [record], first[None], rmse=NOISE)


@pytest.fixture(scope="module")
def models(network):
    config = DEFAULT.resolved(network.records).replace(
        latent_dim=3, neurons=4, inducing=1, recognition_window=WINDOW, recognition_hidden=8
    )
    return stacked([network_model(config, network, np.random.default_rng(0))])


def test_other_coordinates_leave_the_run_as_it_is(network):
    rng = np.random.default_rng(2)
    T = rng.normal(size=(3, 3)) + 2.0 * np.eye(3)
    moved = network.system.transformed(T, np.linalg.inv(T))
    record = network.records[0]
    first = network.firsts[0]
    before = plain_run(np.append(network.system.row(), first), SHAPE, record.u)
    after = plain_run(np.append(moved.row(), T @ first), SHAPE, record.u)
    np.testing.assert_allclose(after[1], before[1], atol=1e-10)
    np.testing.assert_allclose(after[0], before[0] @ T.T, atol=1e-10)


def test_states_and_recognition_errors_are_uncorrelated(network):
    found = well_recognised(network, WINDOW, 8, [0])
    states = found.runs[0]
    np.testing.assert_allclose(np.cov(states[: -WINDOW + 1].T), np.eye(3), atol=1e-6)
    recognition = found.recognition(WINDOW, 8, [0])
    record = found.records[0]
    errors = []
    for begin in range(len(record) - WINDOW + 1):
        part = record[begin : begin + WINDOW]
        errors.append(recognition(part.y, part.u, xp=np)[0] - states[begin])
    second = np.array(errors).T @ np.array(errors) / len(errors)
    std = np.sqrt(second.diagonal())
    # the ridge is chosen anew in the new coordinates, hence not to rounding
    assert np.abs(second / np.outer(std, std) - np.eye(3)).max() < 0.05


def test_the_first_state_is_the_most_likely_one(models, network):
    record = network.records[0][50 : 50 + WINDOW]
    y = record.y.copy()
    y[3, 0] = np.nan
    rough = Firsts(np.array([[0.3, -0.2, 0.1]]), np.array([[0.4, 0.2, 0.7]]))
    found = polished(models, record.u, y, rough=rough)
    mean = models.transition.mean
    emission = models.emission
    system = NetworkSystem(
        *(part[0] for part in (mean.weight, mean.bias, mean.neuron_out)),
        mean.neuron_weight[0],
        mean.neuron_bias[0],
        *(part[0] for part in (emission.states, emission.inputs, emission.offset)),
    )

    def away(x):
        run = plain_run(np.append(system.row(), x), SHAPE, record.u)[1]
        off = ((run - y) / np.exp(models.log_output_std[0]))[~np.isnan(y)]
        return np.concatenate([off, (x - rough.mean[0]) / rough.factor[0]])

    best = least_squares(away, rough.mean[0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    np.testing.assert_allclose(found.mean[0], best.x, atol=1e-5)
    covariance = found.factor[0] @ found.factor[0].T
    np.testing.assert_allclose(covariance, np.linalg.inv(best.jac.T @ best.jac), rtol=1e-3)


def test_only_networks_without_a_gp_are_polished(models):
    assert is_network(models)
    kernel = models.transition.gp.kernel
    louder = models.transition.gp.__class__(
        kernel.__class__(kernel.log_std + 10.0, kernel.log_lengthscale),
        models.transition.gp.zeta,
        models.transition.gp.inducing,
    )
    transition = models.transition.__class__(
        louder, models.transition.mean, models.transition.log_process_std
    )
    other = models.__class__(
        transition,
        models.emission,
        models.recognition,
        log_output_std=models.log_output_std,
        noise_memory=models.noise_memory,
    )
    assert not is_network(other)
