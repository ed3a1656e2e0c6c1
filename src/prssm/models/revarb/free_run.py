"""The free run of REVARB.

Its state is one Gaussian vector of all hidden layers' windows, each newest first.

With moment matching a new row joins the state with its covariance to every row of every layer, so
that nothing is lost between layers or lags. A layer's GP reads only some places of the state; for
the others its length scale is endless.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential
from prssm.gp.moment_matching import match_moments

# log length scale of an input that does not count: its squared inverse is below double precision
_ENDLESS = 20.0


class State(NamedTuple):
    """All windows: layer h has the places h L Dy .. (h + 1) L Dy."""

    mean: Float[Array, " S"]
    covariance: Float[Array, "S S"]


class Start(NamedTuple):
    """The state at the start of a run, in NumPy."""

    mean: np.ndarray
    covariance: np.ndarray

    def on_device(self) -> State:
        return State(jnp.asarray(self.mean), jnp.asarray(self.covariance))


class Joined(NamedTuple):
    """One layer's new function values, and how they vary with the state they came from."""

    mean: Float[Array, " Dy"]
    covariance: Float[Array, "Dy Dy"]
    cross: Float[Array, "S Dy"]
    before: Float[Array, "S S"]  # covariance of the state


class Steps(NamedTuple):
    """A free run, step by step.

    The output of the start's newest row, then for each further row all hidden layers and the
    output.
    """

    start: Joined
    hidden: tuple[Joined, ...]  # arrays lead with time
    output: Joined


def embed(gps: Sequence[Conditional], lags: int) -> tuple[Conditional, ...]:
    """Each layer's posterior as a function of the whole state.

    The first layer's also depends on the known inputs.
    """
    hidden = len(gps) - 1
    window = lags * gps[0].weights.shape[0]
    size = hidden * window
    block = [np.arange(h * window, (h + 1) * window) for h in range(hidden)]
    known = np.arange(size, size + gps[0].zeta.shape[2] - window)
    reads = [np.concatenate([block[0], known])] + [
        np.concatenate([block[h], block[h - 1]]) for h in range(1, hidden)
    ]
    widths = [size + len(known)] + [size] * hidden
    return tuple(
        _spread_out(gp, places, width)
        for gp, places, width in zip(gps, [*reads, block[-1]], widths, strict=True)
    )


def _spread_out(gp: Conditional, places: np.ndarray, width: int) -> Conditional:
    kernel = gp.kernel
    assert isinstance(kernel, SquaredExponential)
    outputs, points, _ = gp.zeta.shape
    zeta = jnp.zeros((outputs, points, width)).at[:, :, places].set(gp.zeta)
    log_lengthscale = jnp.full((outputs, width), _ENDLESS).at[:, places].set(kernel.log_lengthscale)
    return Conditional(
        SquaredExponential(kernel.log_std, log_lengthscale),
        zeta,
        gp.weights,
        quadratic=gp.quadratic,
    )


def _moments(gps: Conditional, state: State, known: Array) -> Joined:
    return Joined(*match_moments(gps, state.mean, state.covariance, known=known), state.covariance)


def _at_mean(gps: Conditional, state: State, known: Array) -> Joined:
    """The state counts as known, so errors do not add up."""
    mean, variance = jax.vmap(lambda gp: gp(jnp.concatenate([state.mean, known])[:, None]))(gps)
    return Joined(
        mean[:, 0],
        jnp.diag(variance[:, 0]),
        jnp.zeros((state.mean.shape[0], mean.shape[0])),
        before=state.covariance,
    )


def shift(layer: int, size: int, window: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of `state = keep state + enter new`.

    The layer's rows move on by one, the oldest leaves.
    """
    begin = layer * window
    keep = np.eye(size)
    enter = np.zeros((size, outputs))
    keep[begin : begin + window] = 0.0
    for place in range(begin + outputs, begin + window):
        keep[place, place - outputs] = 1.0
    enter[begin : begin + outputs] = np.eye(outputs)
    return keep, enter


def _advance(state: State, new: Joined, noise_var: Array, keep: Array, enter: Array) -> State:
    mixed = keep @ new.cross @ enter.T
    covariance = (
        keep @ state.covariance @ keep.T
        + enter @ (new.covariance + jnp.diag(noise_var)) @ enter.T
        + mixed
        + mixed.T
    )
    return State(keep @ state.mean + enter @ new.mean, covariance)


@partial(jax.jit, static_argnames=("lags", "propagation"))
def free_run(
    gps: tuple[Conditional, ...],
    noise_var: Float[Array, "H Dy"],
    start: State,
    u: Float[Array, "T LDu"],
    lags: int,
    propagation: str,
) -> Steps:
    """Steps over the input windows `u`; `noise_var` is the process noise of the hidden layers."""
    layers = embed(gps, lags)
    nothing = jnp.zeros(0)
    outputs = noise_var.shape[1]
    hidden = noise_var.shape[0]
    size = start.mean.shape[0]
    window = lags * outputs
    moves = [
        [jnp.asarray(matrix) for matrix in shift(h, size, window, outputs=outputs)]
        for h in range(hidden)
    ]
    join = _moments if propagation == "moment-matching" else _at_mean

    def step(state: State, u_t: Array) -> tuple[State, tuple]:
        rows = []
        for h in range(hidden):
            rows.append(join(layers[h], state, u_t if h == 0 else nothing))
            keep, enter = moves[h]
            moved = _advance(state, rows[-1], noise_var[h], keep=keep, enter=enter)
            state = (
                moved if propagation == "moment-matching" else State(moved.mean, state.covariance)
            )
        return state, (tuple(rows), join(layers[-1], state, nothing))

    return Steps(join(layers[-1], start, nothing), *jax.lax.scan(step, start, u)[1])


def draw_outputs(
    steps: Steps,
    noise_var: np.ndarray,
    start: Start,
    lags: int,
    count: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Measured paths (count, 1 + T, Dy) whose moments are those of the run.

    `noise_var` has a row for each layer.

    The matched moments define a linear Gaussian chain: new values given the state s are N(m + C'
    S^-1 (s - mean), V - C' S^-1 C).
    """
    outputs = noise_var.shape[1]
    size = len(start.mean)
    moves = [shift(h, size, lags * outputs, outputs=outputs) for h in range(len(steps.hidden))]
    state = _gaussian(start.covariance, count, random)
    path = [steps.start.mean + _drawn(steps.start, state, noise_var[-1], random=random)]
    for t in range(len(steps.output.mean)):
        for h, (keep, enter) in enumerate(moves):
            new = _drawn(
                Joined(*(part[t] for part in steps.hidden[h])), state, noise_var[h], random=random
            )
            state = state @ keep.T + new @ enter.T
        joined = Joined(*(part[t] for part in steps.output))
        path.append(joined.mean + _drawn(joined, state, noise_var[-1], random=random))
    return np.stack(path, axis=1)


def _drawn(
    joined: Joined, state: np.ndarray, noise_var: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Deviations of new values, noise included, given deviations of the state."""
    gain = np.linalg.pinv(joined.before, rcond=1e-10, hermitian=True) @ joined.cross
    left = np.asarray(joined.covariance + np.diag(noise_var) - joined.cross.T @ gain)
    return state @ gain + _gaussian(left, len(state), random)


def _gaussian(covariance: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Zero-mean draws; the covariance may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return (
        random.standard_normal((count, len(values))) * np.sqrt(np.maximum(values, 0.0))
    ) @ vectors.T
