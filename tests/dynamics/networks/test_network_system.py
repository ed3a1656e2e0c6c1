"""Networks as systems: growing keeps what they do, and their runs stay bounded."""

import numpy as np
import pytest

from prssm.dynamics.networks.equations import plain_run
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.linear.spare_states import POLES
from prssm.linear.system import LinearSystem, spectral_radius


def random_network(shape, seed=0, radius=0.9):
    """A calm one, whose runs do not enlarge rounding."""
    rng = np.random.default_rng([*shape, seed])
    return NetworkSystem.of_row(0.4 * rng.normal(size=shape.shared), shape).within(radius)


def run(system, first, u):
    return plain_run(np.append(system.row(), first), system.shape, u)


def test_a_row_of_numbers_gives_the_same_network():
    shape = Shape(3, 2, 2, 4)
    system = random_network(shape)
    again = NetworkSystem.of_row(np.append(system.row(), [1.0, 2.0, 3.0]), shape)
    assert again.shape == shape
    assert len(system.row()) == shape.shared == shape.size - 3
    np.testing.assert_array_equal(again.row(), system.row())


@pytest.mark.parametrize("shape", [Shape(2, 1, 1, 0), Shape(3, 0, 2, 4), Shape(2, 3, 1, 5)])
def test_more_states_and_neurons_keep_the_outputs(shape):
    system = random_network(shape)
    rng = np.random.default_rng(1)
    wider = system.with_more_states(2, rng).with_more_neurons(3, rng)
    assert wider.shape == Shape(shape.states + 2, shape.inputs, shape.outputs, shape.neurons + 3)
    u = rng.normal(size=(50, shape.inputs))
    first = rng.normal(size=shape.states)
    x, y = run(system, first, u)
    with_new, same = run(wider, np.append(first, [0.0, 0.0]), u)
    if shape.inputs:
        assert np.abs(with_new[5:, shape.states :]).min() > 0.0
    np.testing.assert_allclose(same, y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(with_new[:, : shape.states], x, rtol=0, atol=1e-12)


def test_new_states_are_filters_of_the_inputs_and_poles_lie_in_the_range():
    system = random_network(Shape(2, 1, 1, 0))
    wider = system.with_more_states(30, np.random.default_rng(2))
    own = wider.weight[2:, 2:32]
    assert not (own - np.diag(np.diag(own))).any()
    assert (np.diag(own) >= POLES[0]).all()
    assert (np.diag(own) <= POLES[1]).all()
    assert wider.weight[2:, 32:].all()
    assert not wider.weight[2:, :2].any()


def test_neurons_around_a_linear_system_add_nothing_yet():
    rng = np.random.default_rng(3)
    linear = LinearSystem(
        np.array([[0.8, 0.2], [-0.2, 0.7]]),
        rng.normal(size=(2, 1)),
        rng.normal(size=(1, 2)),
        D=rng.normal(size=(1, 1)),
        offset=np.array([0.3]),
    )
    system = NetworkSystem.around(linear, Shape(4, 1, 1, 5), rng)
    u = rng.normal(size=(40, 1))
    first = np.array([0.5, -0.2])
    y, x = linear.simulate(first, u)
    states, outputs = run(system, np.append(first, [0.0, 0.0]), u)
    np.testing.assert_allclose(outputs, y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(states[:, :2], x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_runs_of_a_network_within_a_circle_stay_within_their_bound(seed):
    shape = Shape(3, 1, 1, 6)
    wild = NetworkSystem.of_row(3.0 * np.random.default_rng(seed).normal(size=shape.shared), shape)
    system = wild.within(0.9)
    A = system.weight[:, :3]
    assert spectral_radius(wild.weight[:, :3]) > 1.0
    assert spectral_radius(A) <= 0.9 + 1e-12
    u = np.random.default_rng(9).uniform(-1, 1, (2000, 1))
    x, _ = run(system, np.ones(3), u)
    # |x_t| <= sum_k |A^k| (|B| + |bias| + |out|) + |A^t| |x_1|
    sizes = [np.linalg.norm(np.linalg.matrix_power(A, k), 2) for k in range(300)]
    drive = np.abs(system.weight[:, 3:]).sum(1) + np.abs(system.bias)
    drive += np.abs(system.neuron_out).sum(1)
    bound = sum(sizes) * np.linalg.norm(drive) + max(sizes) * np.sqrt(3.0)
    assert np.linalg.norm(x, axis=1).max() <= bound * (1.0 + 1e-9)


def test_a_network_that_is_within_already_is_the_same():
    system = random_network(Shape(2, 1, 1, 3), radius=0.5)
    np.testing.assert_array_equal(system.within(0.9).row(), system.row())
