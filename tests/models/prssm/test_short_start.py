"""Free runs that start from fewer rows than the recognition model reads."""

import numpy as np
import pytest
from fitted_models import random_linear, random_prssm, record_for
from small_models import small_prssm

import prssm
from prssm.foundation.errors import OptionError
from prssm.inference.noise_search import NoiseFactors
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.filtering.autoregressive import autoregressive_member
from prssm.models.prssm.filtering.short_start import Firsts, short_start, sigma_points
from prssm.models.prssm.filtering.space import space_of

WINDOW = 6
STATES = 4


def linear_space():
    """A PR-SSM without a GP."""
    config = DEFAULT.replace(
        latent_dim=STATES, inducing=3, horizon=20, iterations=0, folds=0, recognition_window=WINDOW
    )
    rng = np.random.default_rng(0)
    u = rng.standard_normal((100, 1))
    y = np.zeros((100, 1))
    for t in range(2, 100):
        y[t] = 1.2 * y[t - 1] - 0.6 * y[t - 2] + u[t - 1] + 0.3 * rng.standard_normal()
    models, _ = autoregressive_member(config, [prssm.Record(u, y)], WINDOW)
    return space_of(models, WINDOW, NoiseFactors())


# Covariances of the states in training: none is known, or one that ties them to each other.
PRIORS = {"unknown": np.eye(STATES), "known": 0.5 * np.eye(STATES) + 0.4}


@pytest.mark.parametrize(
    ("stride", "prior", "noise"), [(1, "unknown", 1.0), (3, "unknown", 1.0), (3, "known", 0.3)]
)
def test_without_a_gp_the_first_state_is_that_of_least_squares(stride, prior, noise):
    space = linear_space()
    rng = np.random.default_rng(1)
    rows = 5
    u = rng.standard_normal((6, 1))
    y = rng.standard_normal((rows, 1))
    if stride == 3:
        y[1] = np.nan
    weight = np.asarray(space.models.transition.mean.weight)[0]
    A, B = weight[:, :STATES], weight[:, STATES:]
    C = np.asarray(space.models.emission.states)[0]
    variance = noise**2 * np.exp(2.0 * space.models.log_output_std[0, 0])
    # Outputs of every step as response @ x + forced, then lines between them.
    response = [C]
    drive = np.zeros(STATES)
    forced = [0.0]
    for t in range(5):
        response.append(response[-1] @ A)
        drive = A @ drive + B @ u[t]
        forced.append((C @ drive)[0])
    at = np.arange(rows) / stride
    step = at.astype(int)
    share = at - step
    lines = np.array(
        [
            (1 - s) * np.append(response[k], forced[k])
            + s * np.append(response[k + 1], forced[k + 1])
            for k, s in zip(step, share, strict=True)
        ]
    )
    last = (rows - 1) // stride  # the last step, which the recognition model sees again and again
    seen = np.minimum(np.arange(WINDOW), last)
    centre = space.recognised(u[seen], y[stride * seen])[1].mean[0, 0]
    known = ~np.isnan(y[:, 0])
    X = lines[known, :-1]
    target = y[known, 0] - lines[known, -1]
    precision = np.linalg.inv(PRIORS[prior]) + X.T @ X / variance
    move = np.linalg.solve(precision, X.T @ (target - X @ centre) / variance)
    usual = None
    if prior == "known":
        usual = Firsts(np.ones((1, STATES)), np.linalg.cholesky(PRIORS[prior])[None])
    found = short_start(space, u, y, stride=stride, usual=usual, noise=noise)
    np.testing.assert_allclose(found.mean[0], centre + move, atol=1e-4)
    spread = found.factor[0] @ found.factor[0].T
    np.testing.assert_allclose(spread, np.linalg.inv(precision), atol=1e-4)


def test_places_to_start_from_have_the_mean_and_the_covariance_of_the_states():
    rng = np.random.default_rng(2)
    factor = np.tril(rng.standard_normal((2, 3, 3)))
    usual = Firsts(rng.standard_normal((2, 3)), factor)
    points = sigma_points(usual)
    np.testing.assert_allclose(points.mean(axis=1), usual.mean)
    away = points - usual.mean[:, None]
    spread = np.swapaxes(away, 1, 2) @ away / 2.0
    np.testing.assert_allclose(spread, factor @ np.swapaxes(factor, 1, 2))


@pytest.mark.parametrize("model", [small_prssm(stride=2), random_linear(stride=2)])
def test_a_short_start_reads_those_rows_and_no_others(model):
    u, y = record_for(model)
    run = model.simulate(u, y, start=4)
    assert run.warmup == 4
    later = y.copy()
    later[4:] = 1e3
    np.testing.assert_array_equal(model.simulate(u, later, start=4).mean, run.mean)
    earlier = y.copy()
    earlier[2] += model.scaler_.y_std
    assert not np.array_equal(model.simulate(u, earlier, start=4).mean, run.mean)
    whole = model.simulate(u, y)
    for start in (model.warmup, 1000):
        np.testing.assert_array_equal(model.simulate(u, y, start=start).mean, whole.mean)


def test_rows_between_steps_count_too():
    """At a slow rate the model itself reads every second row."""
    model = small_prssm(stride=2)
    u, y = record_for(model)
    other = y.copy()
    other[1] += model.scaler_.y_std
    first, second = (model.simulate(u, part, start=3).mean for part in (y, other))
    assert not np.array_equal(first, second)


def test_one_row_is_enough_and_none_is_the_prior():
    model = random_prssm(states=3)
    u, y = record_for(model)
    assert np.isfinite(model.simulate(u, y, start=1).std).all()
    unseen = np.full_like(y, np.nan)
    np.testing.assert_array_equal(
        model.simulate(u, unseen, start=2).mean, model.simulate(u, unseen).mean
    )


@pytest.mark.parametrize("start", [0, -3, 2.5, True, "ten"])
def test_what_is_no_number_of_rows_is_refused(start):
    model = random_prssm()
    with pytest.raises(OptionError, match="start: expected a number of rows of at least 1"):
        model.evaluate(*record_for(model), start=start)
