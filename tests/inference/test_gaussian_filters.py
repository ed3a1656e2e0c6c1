"""Filters and smoother: exact on linear models, right in law on simulated ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, kstest, multivariate_normal
from small_spaces import NOISES, Bend, joint, linear_space, measurements, simulated

from prssm.foundation.errors import OptionError
from prssm.inference.filtering import RULES, ahead, filter_rows, rule_of
from prssm.inference.gaussian import extended, unscented
from prssm.inference.mixing import mixed
from prssm.inference.particles.bootstrap import particle_filter
from prssm.inference.smoother import smooth

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def given(space, u, y, rows):
    """All states given the outputs of the first rows, by inverting the joint Gaussian."""
    mean, covariance, output, wide, noise = joint(space, u)
    seen = np.flatnonzero(~np.isnan(y[:rows]).ravel())
    C = wide[seen]
    S = C @ covariance @ C.T + noise[np.ix_(seen, seen)]
    gain = np.linalg.solve(S, C @ covariance).T
    target = y.ravel()[seen]
    density = multivariate_normal(output[seen], S).logpdf(target) if len(seen) else 0.0
    n = space.state_dim
    moved = (mean + gain @ (target - output[seen])).reshape(-1, n)
    left = (covariance - gain @ C @ covariance).reshape(len(u), n, len(u), n)
    return moved, np.stack([left[t, :, t] for t in range(len(u))]), density


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_filter_and_smoother_are_those_of_the_joint_gaussian(rule):
    space = linear_space()
    u, y = measurements()
    found = filter_rows(space, u, y, rule)
    for t in range(len(u)):
        mean, covariance, _ = given(space, u, y, t + 1)
        np.testing.assert_allclose(found.filtered.mean[0, t], mean[t], **EXACT)
        np.testing.assert_allclose(found.filtered.covariance[0, t], covariance[t], **EXACT)
    mean, covariance, density = given(space, u, y, len(u))
    later = smooth(space, found, u, rule)
    np.testing.assert_allclose(later.mean[0], mean, **EXACT)
    np.testing.assert_allclose(later.covariance[0], covariance, **EXACT)
    assert found.evidence.sum() == pytest.approx(density, rel=1e-10)
    assert found.evidence[4] == 0.0
    assert np.isnan(found.seen.innovation[0, 2]).tolist() == [True, False]


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
@pytest.mark.parametrize("horizon", [1, 3, 20])
def test_predictions_ahead_are_those_of_the_joint_gaussian(rule, horizon):
    space = linear_space()
    u, y = measurements()
    found = ahead(space, filter_rows(space, u, y, rule), u, horizon, rule)
    _, _, output, wide, noise = joint(space, u)
    for t in range(len(u)):
        mean, covariance, _ = given(space, u, y, max(t - horizon + 1, 0))
        prior = joint(space, u)[0].reshape(len(u), -1)
        C = wide[2 * t : 2 * t + 2, space.state_dim * t : space.state_dim * (t + 1)]
        shown = output[2 * t : 2 * t + 2] + C @ (mean[t] - prior[t])
        S = C @ covariance[t] @ C.T + noise[:2, :2]
        np.testing.assert_allclose(found.output[0, t], shown, **EXACT)
        np.testing.assert_allclose(found.variance[0, t], np.diag(S), **EXACT)


def test_many_members_are_each_by_themselves():
    noises = NOISES
    other = replace(noises, process=2 * noises.process)
    u, y = measurements()
    both = filter_rows(linear_space(noises, other), u, y)
    alone = filter_rows(linear_space(other), u, y)
    np.testing.assert_allclose(both.filtered.mean[1], alone.filtered.mean[0], **EXACT)
    density = both.seen.log_likelihood
    np.testing.assert_allclose(both.evidence[0], np.log(0.5 * np.exp(density[:, 0]).sum()), **EXACT)
    np.testing.assert_allclose(np.exp(both.log_weight).sum(axis=0), 1.0)


def test_a_member_that_foretells_better_gets_the_weight():
    space = Bend(output_std=0.1)
    u = np.random.default_rng(0).standard_normal((80, 1))
    for member in (0, 1):
        _, y = simulated(space, u, np.random.default_rng(1), member)
        weight = np.exp(filter_rows(space, u, y).log_weight[:, -1])
        assert weight[member] > 0.95


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_gaussian_filters_are_near_the_particle_filter(rule):
    """Particles are exact up to their number; the Gaussian filters miss what is not Gaussian."""
    space = Bend()
    rng = np.random.default_rng(3)
    u = rng.standard_normal((40, 1))
    _, y = simulated(space, u, rng)
    y[5] = np.nan
    exact = particle_filter(space, u, y, particles=20_000, rng=rng)
    found = filter_rows(space, u, y, rule)
    deviation = np.sqrt(exact.variance)
    missed = ((found.filtered.mean - exact.mean) / deviation)[0]
    assert np.sqrt(np.mean(missed**2)) < 0.15
    ratio = np.sqrt(found.filtered.covariance[..., 0] / exact.variance)[0]
    assert np.abs(np.log(ratio)).mean() < 0.08
    density = found.seen.log_likelihood[0].sum()
    assert density == pytest.approx(exact.log_likelihood[0].sum(), abs=2.0)


def test_particle_filter_is_right_on_a_linear_model():
    space = linear_space()
    u, missing = measurements()
    _, y = simulated(space, u, np.random.default_rng(4))
    y[np.isnan(missing)] = np.nan
    count = 40_000
    found = particle_filter(space, u, y, particles=count, rng=np.random.default_rng(0))
    exact = filter_rows(space, u, y)
    # The weights leave about a tenth of the particles; five standard errors.
    error = 5 * np.sqrt(10 / count)
    std = np.sqrt(np.diagonal(exact.filtered.covariance, axis1=-2, axis2=-1))
    assert (np.abs(found.mean - exact.filtered.mean) < error * std).all()
    np.testing.assert_allclose(found.log_likelihood.sum(), exact.evidence.sum(), atol=10 * error)


def test_innovations_of_simulated_systems_follow_their_chi_square():
    space = linear_space()
    rng = np.random.default_rng(5)
    u = rng.standard_normal((2000, 2))
    _, y = simulated(space, u, rng)
    seen = filter_rows(space, u, y).seen
    squares = np.einsum(
        "ti,tij,tj->t", seen.innovation[0], np.linalg.inv(seen.variance[0]), seen.innovation[0]
    )
    assert kstest(squares, chi2(2).cdf).pvalue > 0.01
    correlation = np.corrcoef(squares[1:], squares[:-1])[0, 1]
    assert abs(correlation) < 3.5 / np.sqrt(2000)


def test_ranks_of_the_truth_are_uniform_under_filter_and_smoother():
    space = Bend(process_std=0.1, output_std=0.1)
    rng = np.random.default_rng(6)
    u = 0.5 * rng.standard_normal((1500, 1))
    x, y = simulated(space, u, rng)
    found = filter_rows(space, u, y)
    for belief in (found.filtered, smooth(space, found, u)):
        z = (x[:, 0] - belief.mean[0, :, 0]) / np.sqrt(belief.covariance[0, :, 0, 0])
        # Thinned: neighbouring errors go together.
        counts, _ = np.histogram(multivariate_normal.cdf(z[::5, None]), bins=10, range=(0, 1))
        statistic = np.sum((counts - 30.0) ** 2 / 30.0)
        assert chi2(9).sf(statistic) > 0.01


def test_mixed_moments_are_those_of_drawn_ones():
    weight = np.array([0.2, 0.8])
    mean = np.array([[1.0], [3.0]])
    variance = np.array([[0.5], [2.0]])
    centre, spread = mixed(weight, mean, variance)
    assert centre[0] == pytest.approx(2.6)
    assert spread[0] == pytest.approx(0.2 * 0.5 + 0.8 * 2.0 + 0.2 * 1.6**2 + 0.8 * 0.4**2)


def test_a_lost_member_loses_its_weight_and_not_the_run():
    centre, spread = mixed(
        np.array([0.0, 1.0]), np.array([[np.nan], [3.0]]), np.array([[np.inf], [2.0]])
    )
    assert (centre[0], spread[0]) == (3.0, 2.0)


def test_filters_have_names():
    assert rule_of("unscented") is unscented
    assert rule_of("extended") is extended
    with pytest.raises(OptionError, match="Did you mean 'extended'"):
        rule_of("extendet")
