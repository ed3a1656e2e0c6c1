"""Free runs of mixtures and of functions drawn once for each trajectory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.dynamics.transition import IdentityMean, Transition
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.sparse import DiagonalInducing, SparseGP
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import Selector
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.starts.start import stacked

STEPS = 8
SLOPE_MEAN = 0.3
SLOPE_STD = 0.1


def drifting(slope=SLOPE_MEAN, output_std=0.5, memory=0.0):
    """x' = x + z with z ~ N(slope, SLOPE_STD^2) everywhere: one inducing point, a length scale
    beyond all distances.
    """
    kernel = jax.tree.map(lambda leaf: leaf[None], SquaredExponential.create(1, 1.0, 1e6))
    gp = SparseGP(
        kernel,
        np.zeros((1, 1, 1)),
        DiagonalInducing(np.full((1, 1), slope), np.full((1, 1), np.log(SLOPE_STD))),
    )
    return StateSpaceModel(
        Transition(gp, IdentityMean(), np.full(1, np.log(1e-6))),
        Selector(1),
        None,
        log_output_std=np.full(1, np.log(output_std)),
        noise_memory=np.full(1, memory),
    )


def run(models, draws, count=40_000):
    with double_precision():
        return Mixture(stacked(models), 0, draws).run(
            np.zeros((STEPS, 0)), np.zeros((0, 1)), count, 0
        )


@pytest.mark.parametrize(
    ("draws", "growth"), [("step", lambda t: t), ("trajectory", lambda t: t**2)]
)
def test_uncertainty_of_the_function_averages_out_only_if_it_is_drawn_anew(draws, growth):
    """The first state is N(0, 1). Drawn at every step, t slopes add up t variances; drawn once, one
    slope counts t times.
    """
    result = run([drifting()], draws)
    t = np.arange(STEPS)
    expected = 1.0 + SLOPE_STD**2 * growth(t) + 0.25
    np.testing.assert_allclose(
        result.mean[:, 0], SLOPE_MEAN * t, atol=4 * np.sqrt(expected.max() / 40_000)
    )
    # and the jitter
    np.testing.assert_allclose(result.std[:, 0] ** 2, expected, rtol=4 * np.sqrt(2 / 40_000) + 2e-5)


def test_a_mixture_has_the_moments_of_its_members_together():
    """Total variance: the mean of the members' variances and the variance of their means."""
    members = [drifting(0.3, 0.5), drifting(-0.2, 1.0)]
    result = run(members, "trajectory")
    t = np.arange(STEPS)
    within = 1.0 + SLOPE_STD**2 * t**2 + np.mean([0.25, 1.0])
    expected = within + 0.25**2 * t**2
    np.testing.assert_allclose(
        result.mean[:, 0], 0.05 * t, atol=4 * np.sqrt(expected.max() / 40_000)
    )
    np.testing.assert_allclose(result.std[:, 0] ** 2, expected, rtol=4 * np.sqrt(2 / 40_000) + 2e-5)
    drawn = result.samples[:, -1, 0]
    assert len(drawn) == 40_000
    assert abs(drawn.mean() - 0.05 * t[-1]) < 4 * np.sqrt(expected[-1] / 40_000)
    assert abs(drawn.var() - expected[-1]) < 4 * expected[-1] * np.sqrt(2 / 40_000)


def test_drawn_noise_has_the_correlation_of_the_model():
    """Outputs with large noise of correlation 0.99 tanh(1), whose stationary deviation is the
    model's.
    """
    result = run([drifting(0.0, 100.0, memory=1.0)], "step", count=20_000)
    noise = result.samples[:, :, 0] / 100.0
    expected = 0.99 * np.tanh(1.0)
    for t in range(1, STEPS):
        assert np.corrcoef(noise[:, t - 1], noise[:, t])[0, 1] == pytest.approx(
            expected, abs=4 * (1 - expected**2) / 141
        )
        assert noise[:, t].std() == pytest.approx(1.0, abs=4 / np.sqrt(2 * 20_000))


def test_states_are_those_of_the_best_member_alone():
    result = run([drifting(0.3), drifting(-5.0)], "step", count=2000)
    assert result.state_mean[-1, 0] == pytest.approx(0.3 * (STEPS - 1), abs=0.3)
    with double_precision():
        assert jnp.asarray(result.mean).shape == (STEPS, 1)
