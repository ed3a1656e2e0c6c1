"""One step of a description in CasADi's symbols: the formulas of `export/description.py`.

Matrices have a column for each trajectory. CasADi differentiates what is written here exactly.
"""

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np

from prssm.export import reference
from prssm.export.description import Description, Member
from prssm.export.draws import Draws

Expression = Any  # constants and symbols of CasADi, which mix
_SMALL = 1e-30  # under a root, so that its slope is finite where a state meets an inducing input


def _squared_exponential(squared: Expression) -> Expression:
    return casadi.exp(-0.5 * squared)


def _matern32(squared: Expression) -> Expression:
    r = casadi.sqrt(3.0 * squared + _SMALL)
    return (1.0 + r) * casadi.exp(-r)


def _matern52(squared: Expression) -> Expression:
    r = casadi.sqrt(5.0 * squared + _SMALL)
    return (1.0 + r + r**2 / 3.0) * casadi.exp(-r)


# The kernels of `export/profiles.py`; a test compares them.
PROFILES: dict[str, Callable[[Expression], Expression]] = {
    "squared-exponential": _squared_exponential,
    "matern32": _matern32,
    "matern52": _matern52,
}


def moved(
    description: Description,
    index: int,
    x: Expression,
    u: Expression,
    *,
    draws: Draws | None,
    noise: Expression | None,
) -> Expression:
    """The next states (Dx, S) of member `index` under a scaled input (Du, 1)."""
    member = description.members[index]
    xu = _with_input(x, u)
    mean = _affine(member.mean_weight, member.mean_bias, xu)
    if description.neurons:
        neurons = casadi.tanh(_affine(member.neuron_weight, member.neuron_bias, xu))
        mean = mean + casadi.mtimes(_dense(member.neuron_out), neurons)
    if description.points == 0:
        return mean
    covariances = _covariances(description, member, xu)
    weights = member.alpha[..., None]
    if draws is not None:
        weights = reference.drawn_weights(member, draws, index)
    rows = []
    for state in range(description.states):
        k = covariances[min(state, len(covariances) - 1)]
        weight = np.broadcast_to(weights[state], (description.points, x.shape[1]))
        rows.append(casadi.sum1(_dense(weight) * k))
    following = mean + casadi.vertcat(*rows)
    if noise is None:
        return following
    return following + casadi.sqrt(_variance(description, member, covariances)) * noise


def seen(member: Member, x: Expression, u: Expression) -> Expression:
    """Noise-free outputs (Dy, S) of states (Dx, S), scaled."""
    return _affine(member.emission_weight, member.emission_bias, _with_input(x, u))


def _covariances(description: Description, member: Member, xu: Expression) -> list[Expression]:
    """k(zeta, xu) as (P, S), one for each kernel."""
    found = []
    for zeta, scale, variance in zip(
        member.zeta, member.lengthscale, member.signal_var, strict=True
    ):
        squared = 0.0
        for column in range(xu.shape[0]):
            points = casadi.repmat(_dense(zeta[:, column : column + 1]), 1, xu.shape[1])
            here = casadi.repmat(xu[column, :], len(zeta), 1)
            squared = squared + ((points - here) / scale[column]) ** 2
        found.append(float(variance) * PROFILES[description.kernel](squared))
    return found


def _variance(
    description: Description, member: Member, covariances: list[Expression]
) -> Expression:
    """Of the next states (Dx, S)."""
    rows = []
    for state, process_std in enumerate(member.process_std):
        at = min(state, len(covariances) - 1)
        a: Expression = casadi.mtimes(_dense(member.white[at]), covariances[at])
        unsaid = casadi.fmax(float(member.signal_var[at]) - casadi.sum1(a**2), 0.0)
        total = unsaid + float(process_std) ** 2
        if description.draws == "step":
            unknown: Expression = casadi.mtimes(_dense(member.v_factor[state].T), a)
            total = total + casadi.sum1(unknown**2)
        rows.append(total)
    return casadi.vertcat(*rows)


def _with_input(x: Expression, u: Expression) -> Expression:
    return casadi.vertcat(x, casadi.repmat(u, 1, x.shape[1]))


def _affine(weight: np.ndarray, bias: np.ndarray, xu: Expression) -> Expression:
    columns = casadi.repmat(_dense(bias[:, None]), 1, xu.shape[1])
    return casadi.mtimes(_dense(weight), xu) + columns


def _dense(array: np.ndarray) -> Expression:
    return casadi.DM(np.asarray(array, np.float64))
