"""Bayes' rule for a Gaussian state and a row of measurements: where every Gaussian filter ends."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from prssm.inference.state_space import Array, Belief, symmetric

_LOG_2PI = float(np.log(2.0 * np.pi))


class Seen(NamedTuple):
    """What one row of measurements says: a channel that was not measured has innovation NaN."""

    innovation: Float[Array, "M B Dy"]
    variance: Float[Array, "M B Dy Dy"]  # of the innovation
    log_likelihood: Float[Array, "M B"]


class Predicted(NamedTuple):
    """The next measurement as a filter expects it."""

    output: Float[Array, "M B Dy"]
    variance: Float[Array, "M B Dy Dy"]  # S, the sensors' noise included
    cross: Float[Array, "M B Dx Dy"]  # covariance of state and measurement


def condition(
    belief: Belief, predicted: Predicted, y: Float[Array, " Dy"], known: Bool[Array, " Dy"]
) -> tuple[Belief, Seen]:
    """The state given the channels of y that are known.

    K = cross S^-1,   mean + K (y - output),   covariance - K S K'
    """
    mean, covariance = belief
    output, S, cross = predicted
    every = bool(known.all())
    innovation = (y if every else np.where(known, y, 0.0)) - output
    if not every:
        innovation = innovation * known
        cross = cross * known
    if S.shape[-1] == 1:
        return _one_output(belief, Predicted(output, S, cross), innovation, every)
    inner = S if every else S * (known & known[:, None]) + np.diag(np.where(known, 0.0, 1.0))
    L = np.linalg.cholesky(inner)
    white = np.linalg.solve(L, innovation[..., None])
    half = np.linalg.solve(L, np.swapaxes(cross, -1, -2))
    halved = np.swapaxes(half, -1, -2)
    log_det = np.sum(np.log(np.diagonal(L, axis1=-2, axis2=-1)), axis=-1)
    square = np.sum(white[..., 0] ** 2, axis=-1)
    log_likelihood = -0.5 * (square + known.sum() * _LOG_2PI) - log_det
    now = Belief(mean + (halved @ white)[..., 0], symmetric(covariance - halved @ half))
    return now, Seen(np.where(known, innovation, np.nan), S, log_likelihood)


def _one_output(
    belief: Belief, predicted: Predicted, innovation: Float[Array, "M B 1"], known: bool
) -> tuple[Belief, Seen]:
    """The same without matrix factors: with one output they would take most of the time."""
    mean, covariance = belief
    _, S, cross = predicted
    if not known:
        nothing = np.zeros(innovation.shape[:-1])
        return belief, Seen(np.full_like(innovation, np.nan), S, nothing)
    s = S[..., 0]
    gain = cross[..., 0] / s
    log_likelihood = -0.5 * (innovation * innovation / s + np.log(s) + _LOG_2PI)[..., 0]
    moved = mean + gain * innovation
    left = covariance - gain[..., :, None] * np.swapaxes(cross, -1, -2)
    return Belief(moved, left), Seen(innovation, S, log_likelihood)
