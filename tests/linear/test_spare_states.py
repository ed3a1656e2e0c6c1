"""States beside those of a linear system: they change nothing, and their size is one."""

import numpy as np
import pytest

from prssm.linear.spare_states import POLES, SpareStates


def test_they_filter_white_inputs_to_unit_variance():
    """The variance of s' = p s + b'u is |b|^2 / (1 - p^2) = 1 on average over what is drawn."""
    rng = np.random.default_rng(0)
    found = SpareStates.drawn(4000, 3, rng)
    assert POLES[0] <= found.poles.min()
    assert found.poles.max() <= POLES[1]
    variance = np.sum(found.drive**2, axis=1) / (1.0 - found.poles**2)
    error = variance.std() / np.sqrt(len(variance))
    assert variance.mean() == pytest.approx(1.0, abs=4.0 * error)


@pytest.mark.parametrize("inputs", [0, 2])
def test_the_wider_dynamics_have_the_old_run_and_that_of_the_filters(inputs):
    rng = np.random.default_rng(1)
    weight = 0.4 * rng.normal(size=(3, 3 + inputs))
    filters = SpareStates.drawn(2, inputs, rng)
    wider = filters.beside(weight)
    u = rng.normal(size=(20, inputs))
    x = np.zeros(3)
    both = np.zeros(5)
    expected = filters.run(u)
    for t in range(20):
        np.testing.assert_allclose(both, [*x, *expected[t]], atol=1e-14)
        x = weight @ np.append(x, u[t])
        both = wider @ np.append(both, u[t])
