"""Free runs of networks and their normal equations: compiled, in NumPy, by differences."""

import numpy as np
import pytest
from rollout_cases import need_native_library

from prssm.dynamics.engines.choice import compiled_network
from prssm.dynamics.networks import equations as module
from prssm.dynamics.networks.equations import (
    equations,
    free_run,
    plain_equations,
    plain_jacobian,
    plain_run,
)
from prssm.dynamics.networks.system import NetworkSystem, Shape

# Sizes of the row are no multiples of 6, 8 or 32, except that of the last: 48.
SHAPES = [
    Shape(1, 1, 1, 0),
    Shape(2, 1, 1, 3),
    Shape(3, 0, 1, 5),
    Shape(4, 2, 3, 7),
    Shape(5, 3, 2, 11),
    Shape(2, 0, 2, 0),
    Shape(3, 2, 1, 3),
]


@pytest.fixture(scope="module")
def native():
    need_native_library()


def network(shape, rng, radius=0.9):
    """A calm network, as a row of numbers that ends with a first state."""
    row = 0.4 * rng.normal(size=shape.size)
    system = NetworkSystem.of_row(row, shape).within(radius)
    return np.append(system.row(), row[shape.shared :])


def case(shape, rows=300, seed=0):
    rng = np.random.default_rng([*shape, seed])
    y = rng.normal(size=(rows, shape.outputs))
    y[rng.random(y.shape) < 0.1] = np.nan
    return network(shape, rng), rng.normal(size=(rows, shape.inputs)), y


def close(found, expected):
    scale = max(np.abs(expected).max(initial=0.0), 1e-300)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=1e-12)


def same_equations(row, shape, u, *, y):
    square, slope, error = compiled_network.network_equations(shape, row, u, y)
    plain_square, plain_slope, plain_error = plain_equations(row, shape, u, y=y)
    close(np.triu(square), np.triu(plain_square))
    close(slope, plain_slope)
    assert error == pytest.approx(plain_error, rel=1e-12)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [1, 2, 40])
def test_compiled_runs_and_equations_are_those_in_numpy(shape, rows):
    row, u, y = case(shape, rows)
    for found, expected in zip(
        compiled_network.network_run(shape, row, u), plain_run(row, shape, u), strict=True
    ):
        close(found, expected)
    same_equations(row, shape, u, y=y)


@pytest.mark.usefixtures("native")
def test_more_measured_values_than_a_block_of_the_compiled_jacobian_holds():
    shape = Shape(2, 1, 2, 3)
    row, u, y = case(shape, rows=331)  # 662 values, some missing; a block holds 128
    same_equations(row, shape, u, y=y)


@pytest.mark.usefixtures("native")
def test_outputs_that_are_all_missing_say_nothing():
    shape = Shape(2, 1, 2, 3)
    row, u, y = case(shape, rows=20)
    square, slope, error = equations(row, shape, u, np.full_like(y, np.nan))
    assert not square.any()
    assert not slope.any()
    assert error == 0.0


@pytest.mark.usefixtures("native")
def test_inputs_and_outputs_may_lie_anyhow_in_memory():
    shape = Shape(3, 2, 2, 4)
    row, u, y = case(shape, rows=30)
    strided = np.repeat(u, 2, axis=0)[::2]
    turned = np.asfortranarray(y)
    for found, expected in zip(
        equations(row, shape, strided, turned), equations(row, shape, u, y), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(params=["compiled", "numpy"])
def both(request, monkeypatch):
    """The same test where the library is there and where it is not."""
    if request.param == "numpy":
        monkeypatch.setattr(module, "trainer_why_not", lambda: "not built")
    else:
        need_native_library()


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("number", [2.0, np.nan])
def test_a_run_that_goes_away_is_lost(number):
    shape = Shape(1, 0, 1, 0)
    row = np.array([number, 0.0, 1.0, 0.0, 1.0])  # x' = 2 x, y = x, from 1
    u = np.zeros((60, 0))
    y = np.zeros((60, 1))
    assert free_run(row, shape, u) is None
    assert equations(row, shape, u, y) is None


@pytest.mark.usefixtures("both")
def test_a_run_that_would_be_lost_after_the_last_row_is_not():
    shape = Shape(1, 0, 1, 0)
    row = np.array([2e6, 0.0, 1.0, 0.0, 1.0])
    x, y = free_run(row, shape, np.zeros((1, 0)))
    np.testing.assert_array_equal(x, [[1.0]])
    np.testing.assert_array_equal(y, [[1.0]])
    assert equations(row, shape, np.zeros((1, 0)), np.zeros((1, 1)))[2] == 1.0


@pytest.mark.usefixtures("both")
def test_equations_are_whole_and_symmetric():
    shape = Shape(2, 1, 1, 3)
    row, u, y = case(shape, rows=50)
    square, _, _ = equations(row, shape, u, y)
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_allclose(square, plain_equations(row, shape, u, y=y)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_jacobian_is_that_of_differences(shape):
    row, u, _ = case(shape, rows=12)
    x, _ = plain_run(row, shape, u)
    jacobian = plain_jacobian(row, shape, u, x=x)
    step = 1e-5
    for number in range(shape.size):
        apart = np.zeros(shape.size)
        apart[number] = step
        ahead = plain_run(row + apart, shape, u)[1]
        behind = plain_run(row - apart, shape, u)[1]
        slope = (ahead - behind) / (2 * step)
        scale = max(np.abs(slope).max(), 1.0)
        np.testing.assert_allclose(jacobian[:, :, number], slope, rtol=0, atol=1e-7 * scale)
