"""The functions that CasADi's users call: `start`, `step` and `horizon`, in physical units.

    functions = prssm.as_casadi(model, samples=20, horizon=30)
    run = functions.horizon(state=functions.start(y=y, u=u)["state"], pump=pump)
    run["level"], run["level_std"]

Inputs and outputs are arguments by their identifiers. A state is one vector: the states of the
first trajectory, then of the second, member by member; then, where the band knows what training has
shown, how far outside of it the run has been.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import casadi
import numpy as np

from prssm.export import draws as drawing
from prssm.export.casadi import outside
from prssm.export.casadi import step as steps
from prssm.export.casadi.step import Expression
from prssm.export.description import Column, Description, Recognition
from prssm.export.draws import Draws
from prssm.foundation.errors import OptionError

_RESERVED = ("null", "jac", "hess")  # words that CasADi keeps for itself


class CasadiFunctions(NamedTuple):
    """What a fitted model is in CasADi.

    `start(y, u)` gives the state from the first samples (L, Dy) and (L, Du). `step(state, <inputs>,
    noise)` gives `next_state` and each output's mean and deviation of the present state; `noise`
    (standard normal numbers, zero if left out) is there where trajectories are. `horizon` takes
    rows of inputs (1, N) and gives rows of outputs, with the noise of the fixed trajectories:
    `noise(N)` has a column of it for each step.
    """

    start: casadi.Function
    step: casadi.Function
    horizon: casadi.Function | None
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    noise: Callable[[int], np.ndarray]


def functions_of(
    description: Description,
    *,
    samples: int,
    seed: int = 0,
    horizon: int | None = None,
    widen: bool = True,
) -> CasadiFunctions:
    """The functions of a description; without `widen` the band forgets what training has shown."""
    if not widen:
        description = replace(description, seen=None)
    if horizon is not None and horizon < 1:
        raise OptionError(f"horizon: expected at least 1 step, got {horizon}")
    draws = drawing.fixed(description, samples, seed) if samples else None
    step = step_function(description, draws)
    noise = partial(_noise, description, draws)
    over = None if horizon is None else _horizon(description, step, noise(horizon))
    return CasadiFunctions(
        start_function(description, draws),
        step,
        over,
        input_names=names(description.inputs),
        output_names=names(description.outputs),
        noise=noise,
    )


def names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Identifiers that CasADi takes."""
    return tuple(
        f"x_{column.identifier}" if column.identifier in _RESERVED else column.identifier
        for column in columns
    )


def step_function(description: Description, draws: Draws | None) -> casadi.Function:
    """(state, inputs.., noise) -> (next_state, outputs.., deviations..)."""
    share = 1 if draws is None else draws.share
    count = len(description.members)
    states = description.states
    size = count * states * share
    state = casadi.MX.sym("state", size + _widens(description, draws))
    columns = [casadi.MX.sym(name) for name in names(description.inputs)]
    noise = casadi.MX.sym("noise", 0 if draws is None else size)
    u = _scaled(columns, description.inputs)
    parts = [casadi.reshape(part, states, share) for part in _split(state[:size], count)]
    drawn: list[Any] = [None] * count
    if draws is not None:
        drawn = [casadi.reshape(part, states, share) for part in _split(noise, count)]
    following = [
        casadi.vec(steps.moved(description, at, x, u, draws=draws, noise=drawn[at]))
        for at, x in enumerate(parts)
    ]
    outputs = casadi.horzcat(
        *(steps.seen(member, x, u) for member, x in zip(description.members, parts, strict=True))
    )
    told = _told(description, outputs, band=draws is not None)
    if description.seen is not None and draws is not None:
        seen: Expression = casadi.sum2(outputs)
        total: Expression = casadi.sum2(parts[0])
        mean = seen / int(outputs.shape[1])
        path = total / share
        far = outside.distance(description.seen, path, u, mean=mean, before=state[size])
        following.append(far)
        means = len(description.outputs)
        told[means:] = [std * outside.widened(far) for std in told[means:]]
    return casadi.Function(
        "step",
        [state, *columns, noise],
        [casadi.vertcat(*following), *told],
        ["state", *names(description.inputs), "noise"],
        ["next_state", *_told_names(description, draws is not None)],
    )


def start_function(description: Description, draws: Draws | None) -> casadi.Function:
    """(y, u) -> state, from the first samples, or from nothing where the model needs none."""
    window = description.window
    y = casadi.MX.sym("y", window, len(description.outputs))
    u = casadi.MX.sym("u", window, len(description.inputs))
    scaled = [
        (casadi.vec(part[:, at]) - column.mean) / column.std
        for part, columns in ((y, description.outputs), (u, description.inputs))
        for at, column in enumerate(columns)
    ]
    # row by row, outputs first
    split = len(description.outputs)
    sample = casadi.vertcat(
        *(casadi.vec(casadi.horzcat(*part).T) for part in (scaled[:split], scaled[split:]) if part)
    )
    states = []
    for index, member in enumerate(description.members):
        if member.recognition is None:
            mean: Expression = casadi.DM(member.prior_mean)
            factor: Expression = casadi.DM(member.prior_factor)
        else:
            mean, factor = _recognised(member.recognition, sample)
        if draws is None:
            states.append(mean)
        else:
            spread = casadi.mtimes(factor, casadi.DM(draws.first[index]))
            states.append(casadi.vec(casadi.repmat(mean, 1, draws.share) + spread))
    states += [casadi.DM(0.0)] * _widens(description, draws)
    return casadi.Function("start", [y, u], [casadi.vertcat(*states)], ["y", "u"], ["state"])


def _widens(description: Description, draws: Draws | None) -> int:
    """1 where the state ends in how far the run has been outside, else 0."""
    return int(draws is not None and description.seen is not None)


def _noise(description: Description, draws: Draws | None, count: int) -> np.ndarray:
    """The noise of the fixed trajectories, a column for each of so many steps."""
    if draws is None:
        return np.zeros((0, count))
    members = range(len(description.members))
    steps = [[draws.step(index, at).ravel(order="F") for index in members] for at in range(count)]
    return np.array([np.concatenate(parts) for parts in steps]).T


def _horizon(description: Description, step: casadi.Function, noise: np.ndarray) -> casadi.Function:
    """(state, rows of inputs) -> (next_state, rows of outputs and deviations)."""
    count = noise.shape[1]
    state = casadi.MX.sym("state", step.size1_in("state"))
    columns = [casadi.MX.sym(name, 1, count) for name in names(description.inputs)]
    folded = step.mapaccum(count)(state, *columns, casadi.DM(noise))
    following, *told = folded
    return casadi.Function(
        "horizon",
        [state, *columns],
        [following[:, -1], *told],
        ["state", *names(description.inputs)],
        step.name_out(),
    )


def _told_names(description: Description, band: bool) -> list[str]:
    words = names(description.outputs)
    return [*words, *(f"{word}_std" for word in words if band)]


def _told(description: Description, outputs: Expression, band: bool) -> list[Expression]:
    """Mean and deviation over all trajectories (Dy, S) in physical units, an entry each."""
    count = outputs.shape[1]
    mean = casadi.sum2(outputs) / count
    told = [mean[at] * column.std + column.mean for at, column in enumerate(description.outputs)]
    if not band:
        return told
    apart = outputs - casadi.repmat(mean, 1, count)
    variance = casadi.sum2(apart**2) / (count - 1) + casadi.DM(description.noise_var)
    factors = description.physical_spreads(np.ones(len(description.outputs)))
    std = casadi.sqrt(variance) * casadi.DM(factors)
    return [*told, *(std[at] for at in range(len(description.outputs)))]


def _recognised(net: Recognition, sample: Expression) -> tuple[Expression, Expression]:
    mean = casadi.mtimes(casadi.DM(net.direct), sample) + casadi.DM(net.direct_bias)
    log_std: Expression = casadi.DM(net.log_std_bias)
    if len(net.hidden_bias):
        hidden = casadi.mtimes(casadi.DM(net.hidden_weight), sample) + casadi.DM(net.hidden_bias)
        hidden = casadi.tanh(hidden)
        mean = mean + casadi.mtimes(casadi.DM(net.mean_weight), hidden)
        log_std = casadi.mtimes(casadi.DM(net.log_std_weight), hidden) + log_std
    if net.factor is not None:
        return mean, casadi.DM(net.factor)
    return mean, casadi.diag(casadi.exp(log_std))


def _scaled(columns: list[Expression], described: tuple[Column, ...]) -> Expression:
    parts = [
        (part - column.mean) / column.std for part, column in zip(columns, described, strict=True)
    ]
    return casadi.vertcat(*parts) if parts else casadi.MX(0, 1)


def _split(vector: Expression, count: int) -> list[Expression]:
    return casadi.vertsplit(vector, vector.shape[0] // count)
