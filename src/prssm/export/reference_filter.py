"""The filter of a description in NumPy: slow and plain, the oracle of the generated one.

An extended Kalman filter for each member, whose state is [x; d] with the coloured part d of the
sensors' noise where there is any. Members are weighed by how well they foretold the measurements.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from prssm.export.description import Description, Member
from prssm.export.profiles import SLOPES
from prssm.export.reference import covariances, emit, first_states, neurons, step, variance


class Belief(NamedTuple):
    """What a member knows of its state, in its own units."""

    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True, eq=False)
class Filter:
    """What all members know, and the logarithms of their weights."""

    beliefs: tuple[Belief, ...]
    log_weight: np.ndarray


MEMORY = 0.98  # of a member's record, after one more measurement


def start(
    description: Description, u: np.ndarray | None = None, y: np.ndarray | None = None
) -> Filter:
    """From the first samples in physical units, or from the prior."""
    none = np.zeros((0, len(description.inputs)))
    members = description.followed
    firsts = first_states(description, members, none if u is None else u, y_first=y)
    beliefs = [
        Belief(
            np.append(mean, np.zeros(description.colour_states)),
            block_diag(factor @ factor.T, member.filter.colour_first),
        )
        for member, (mean, factor) in zip(members, firsts, strict=True)
    ]
    with np.errstate(divide="ignore"):
        return Filter(tuple(beliefs), np.log(description.first_weight))


def update(description: Description, now: Filter, u: np.ndarray, y: np.ndarray) -> Filter:
    """Given the measurements y (Dy,) in physical units, NaN where there is none."""
    known = ~np.isnan(y)
    if not known.any():
        return now
    beliefs = []
    density = []
    for member, belief in zip(description.followed, now.beliefs, strict=True):
        output, C, R = _seen(description, member, belief, u)
        error = (description.scaled_outputs(y) - output)[known]
        S = (C @ belief.covariance @ C.T + R)[np.ix_(known, known)]
        gain = np.linalg.solve(S, C[known] @ belief.covariance).T
        beliefs.append(Belief(belief.mean + gain @ error, belief.covariance - gain @ S @ gain.T))
        square = error @ np.linalg.solve(S, error)
        density.append(-0.5 * (square + np.linalg.slogdet(2.0 * np.pi * S)[1]))
    log_weight = MEMORY * now.log_weight + np.array(density)
    return Filter(tuple(beliefs), log_weight - np.logaddexp.reduce(log_weight))


def predict(description: Description, now: Filter, u: np.ndarray) -> Filter:
    """One step on under the input u (Du,) in physical units."""
    scaled = description.scaled_inputs(u)
    states = description.states
    beliefs = []
    for member, belief in zip(description.followed, now.beliefs, strict=True):
        x = belief.mean[:states]
        noise = member.filter
        xu = np.concatenate([x, scaled])
        k = covariances(description, member, xu[:, None])
        unknown = variance(description, member, k, every=True)[:, 0] - member.process_std**2
        moved = step(
            description, member, x[:, None], scaled, weights=member.alpha[..., None], eps=None
        )
        F = block_diag(slope(description, member, xu), noise.colour_step)
        Q = block_diag(np.diag(unknown) + noise.process, noise.colour_noise)
        mean = np.concatenate([moved[:, 0], noise.colour_step @ belief.mean[states:]])
        beliefs.append(Belief(mean, F @ belief.covariance @ F.T + Q))
    return Filter(tuple(beliefs), now.log_weight)


def output(description: Description, now: Filter, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation (Dy,) of what the sensors show, in physical units."""
    weight = np.exp(now.log_weight)[:, None]
    means = []
    variances = []
    for member, belief in zip(description.followed, now.beliefs, strict=True):
        value, C, R = _seen(description, member, belief, u)
        means.append(value)
        variances.append(np.diag(C @ belief.covariance @ C.T + R))
    centre = np.sum(weight * means, axis=0)
    square = np.sum(weight * (np.array(variances) + (np.array(means) - centre) ** 2), axis=0)
    y_std = np.array([column.std for column in description.outputs])
    return description.physical_outputs(centre), y_std * np.sqrt(square)


def slope(description: Description, member: Member, xu: np.ndarray) -> np.ndarray:
    """Derivatives (Dx, Dx) of the mean of the next state by the state."""
    states = description.states
    apart = (member.zeta - xu) / member.lengthscale[:, None]  # (K, P, Din)
    steep = SLOPES[description.kernel](np.sum(apart**2, axis=2)) * member.signal_var[:, None]
    # q = |apart|^2, so dk/dx_i = k'(q) dq/dx_i
    along = -2.0 * steep[..., None] * apart / member.lengthscale[:, None]
    # the slope of tanh is 1 - tanh^2
    bent = (1.0 - neurons(member, xu[:, None]) ** 2) * member.neuron_weight
    prior = member.mean_weight + member.neuron_out @ bent
    whole = prior + np.sum(member.alpha[..., None] * along, axis=1)
    return whole[:, :states]


def _seen(
    description: Description, member: Member, belief: Belief, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The outputs that a member expects, their derivatives by its state, and the noise."""
    states = description.states
    x = belief.mean[:states]
    value = emit(member, x[:, None], description.scaled_inputs(u))[:, 0]
    colour = np.eye(len(value), description.colour_states)
    C = np.concatenate([member.emission_weight[:, :states], colour], axis=1)
    return value + colour @ belief.mean[states:], C, np.diag(member.filter.sensor_var)
