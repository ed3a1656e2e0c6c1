"""The free run of a description in NumPy: slow and plain, the oracle of every target."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.export.description import Description, Member
from prssm.export.draws import Draws
from prssm.export.profiles import PROFILES
from prssm.foundation.errors import DataError
from prssm.prediction.widening import widening


@dataclass(frozen=True, eq=False)
class Run:
    """A free run in physical units, a row for each step of the model."""

    mean: np.ndarray  # (T, Dy)
    std: np.ndarray | None  # (T, Dy); none for the mean alone
    states: np.ndarray  # (M, T, Dx, S) in the model's own units


def run(
    description: Description,
    u: np.ndarray,
    y_first: np.ndarray | None = None,
    draws: Draws | None = None,
) -> Run:
    """Over inputs (T, Du) in physical units from the first outputs (L, Dy), NaN where missing.

    Rows are steps of the model. Without outputs it starts from the prior; without `draws` it is the
    mean alone.
    """
    scaled = description.scaled_inputs(np.asarray(u, np.float64))
    firsts = first_states(description, description.members, u, y_first=y_first)
    outputs = []
    states = []
    for index, (member, (mean, factor)) in enumerate(zip(description.members, firsts, strict=True)):
        x = mean[:, None]
        weights = member.alpha[..., None]
        if draws is not None:
            x = x + factor @ draws.first[index]
            weights = drawn_weights(member, draws, index)
        seen = []
        visited = []
        for at, u_t in enumerate(scaled):
            visited.append(x)
            seen.append(emit(member, x, u_t))
            eps = None if draws is None else draws.step(index, at)
            x = step(description, member, x, u_t, weights=weights, eps=eps)
        outputs.append(np.stack(seen))
        states.append(np.stack(visited))
    together = np.concatenate(outputs, axis=2)
    mean, std = moments(description, together, draws is not None)
    if std is not None:
        std = std * _wider(description, states[0].mean(axis=2), scaled, together.mean(axis=2))
    return Run(mean, std, np.stack(states))


def first_states(
    description: Description,
    members: Sequence[Member],
    u: np.ndarray,
    *,
    y_first: np.ndarray | None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Mean (Dx,) and covariance factor (Dx, Dx) of the first state of each of some members."""
    window = description.window
    if window == 0 or y_first is None or np.isnan(y_first).all():
        return [(member.prior_mean, member.prior_factor) for member in members]
    if len(u) < window or len(y_first) < window:
        raise DataError(
            f"first samples: expected {window} steps, got {len(u)} of inputs and {len(y_first)} of "
            "outputs"
        )
    scaled_u = description.scaled_inputs(np.asarray(u[:window], np.float64))
    scaled_y = description.scaled_outputs(np.asarray(y_first[:window], np.float64))
    filled = Record(scaled_u, scaled_y).outputs_filled()
    sample = np.concatenate([filled.ravel(), scaled_u.ravel()])
    return [_recognised(member, sample) for member in members]


def step(
    description: Description,
    member: Member,
    x: np.ndarray,
    u: np.ndarray,
    *,
    weights: np.ndarray,
    eps: np.ndarray | None,
) -> np.ndarray:
    """The next states (Dx, S) from states (Dx, S) under a scaled input (Du,).

    `weights` (Dx, P, S or 1) are those of the kernel: `member.alpha`, or of drawn functions.
    `eps` (Dx, S) is the noise; none gives the mean.
    """
    xu = _with_input(x, u)
    k = covariances(description, member, xu)
    affine = member.mean_weight @ xu + member.mean_bias[:, None]
    mean = affine + member.neuron_out @ neurons(member, xu) + np.sum(weights * k, axis=1)
    if eps is None:
        return mean
    return mean + np.sqrt(variance(description, member, k)) * eps


def neurons(member: Member, xu: np.ndarray) -> np.ndarray:
    """The neurons (N, S) of the prior mean at points (Din, S)."""
    return np.tanh(member.neuron_weight @ xu + member.neuron_bias[:, None])


def covariances(description: Description, member: Member, xu: np.ndarray) -> np.ndarray:
    """k(zeta, xu) as (K, P, S) for points (Din, S)."""
    apart = (member.zeta[:, :, :, None] - xu) / member.lengthscale[:, None, :, None]
    profile = PROFILES[description.kernel]
    return member.signal_var[:, None, None] * profile(np.sum(apart**2, axis=2))


def variance(
    description: Description, member: Member, k: np.ndarray, *, every: bool = False
) -> np.ndarray:
    """Of the next state (Dx, S), given the present one and, where it is kept, the function.

    With `every`, what is not known of the function counts too.
    """
    a = member.white @ k
    unsaid = np.maximum(member.signal_var[:, None] - np.sum(a**2, axis=1), 0.0)
    total = unsaid + member.process_std[:, None] ** 2
    if every or description.draws == "step":
        total = total + np.sum((np.swapaxes(member.v_factor, 1, 2) @ a) ** 2, axis=1)
    return total


def emit(member: Member, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Noise-free outputs (Dy, S) of states (Dx, S), scaled."""
    return member.emission_weight @ _with_input(x, u) + member.emission_bias[:, None]


def drawn_weights(member: Member, draws: Draws, index: int) -> np.ndarray:
    """(Dx, P, S): one function for each trajectory, or the mean for all."""
    if draws.function is None:
        return member.alpha[..., None]
    v = member.v_mean[..., None] + member.v_factor @ draws.function[index]
    return member.weights(v)


def moments(
    description: Description, outputs: np.ndarray, spread: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Mean and deviation in physical units of scaled outputs (T, Dy, all trajectories)."""
    mean = description.physical_outputs(outputs.mean(axis=2))
    if not spread:
        return mean, None
    std = np.sqrt(outputs.var(axis=2, ddof=1) + description.noise_var)
    return mean, description.physical_spreads(std)


def _wider(
    description: Description, path: np.ndarray, u: np.ndarray, mean: np.ndarray
) -> np.ndarray:
    """By how much the band is wider than its trajectories say, (T, 1); all arguments are scaled."""
    seen = description.seen
    if seen is None:
        return np.ones((len(u), 1))
    distance = np.maximum(seen.distance(path, u, mean), seen.beyond_inputs(u))
    return widening(distance)[:, None]


def _recognised(member: Member, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    net = member.recognition
    assert net is not None
    hidden = np.tanh(net.hidden_weight @ sample + net.hidden_bias)
    mean = net.mean_weight @ hidden + net.direct @ sample + net.direct_bias
    if net.factor is not None:
        return mean, net.factor
    return mean, np.diag(np.exp(net.log_std_weight @ hidden + net.log_std_bias))


def _with_input(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.concatenate([x, np.broadcast_to(u[:, None], (len(u), x.shape[1]))])
