"""The members of a PR-SSM's mixture as the filters see them, in NumPy.

The state is [x; d]: the latent state, and the coloured part of the sensors' noise where there is
any. With the prior mean m, and the GP's mean f and variance v at the state,

    x' = m(x, u) + f(x, u) + w,  w ~ N(0, v(x, u) + process variance),
    y = C [x; u] + c + d + e;  `inference.spaces.coloured` says how d goes on.
"""

import copy
from collections.abc import Sequence
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from prssm.data.record import Record
from prssm.dynamics.transition import Dynamics
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.inference.noise_search import NoiseFactors
from prssm.inference.spaces.coloured import Coloured, block_diagonal
from prssm.inference.spaces.gp_functions import GPFunctions
from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.plain_mean import PlainMean


class PRSSMSpace(StateSpace):
    """What all members share whatever their parts; subclasses say how a step is computed.

    `noises` are one for all members, or one for each. `shape` (M, Dx, Dx) is the covariance of
    process noise of size one; none: the same for every state.
    """

    def __init__(
        self,
        models: StateSpaceModel,
        window: int,
        noises: NoiseFactors | Sequence[NoiseFactors],
        shape: Float[Array, "M Dx Dx"] | None = None,
    ) -> None:
        self.models = jax.tree.map(np.asarray, models)
        self.window = window
        log_process_std = self.models.transition.log_process_std
        self.members, self._latent = log_process_std.shape
        self.output_dim = self.models.log_output_std.shape[1]
        self._heard: Bool[Array, " M"] | None = None
        self._shape = np.eye(self._latent) if shape is None else shape
        each = [noises] * self.members if isinstance(noises, NoiseFactors) else list(noises)
        self._set_noises(each)

    @property
    def first_log_weight(self) -> Float[Array, " M"]:
        if self._heard is None:
            return super().first_log_weight
        with np.errstate(divide="ignore"):
            return np.log(self._heard / self._heard.sum())

    def hearing(self, heard: Sequence[bool]) -> Self:
        """The same, but only some members have a weight; the others are followed."""
        other = copy.copy(self)
        other._heard = np.array(heard)
        return other

    def with_noises(self, each: Sequence[NoiseFactors]) -> Self:
        """The same members, each with other noises."""
        other = copy.copy(self)
        other._set_noises(each)
        return other

    def _factor(self, each: Sequence[NoiseFactors], name: str) -> Float[Array, "M 1"]:
        return np.array([[getattr(one, name)] for one in each])

    def _set_noises(self, each: Sequence[NoiseFactors]) -> None:
        output_std = np.exp(self.models.log_output_std)
        trained = self.models.correlation_of(np)
        memory = np.stack(
            [
                own if one.memory is None else np.full_like(own, one.memory)
                for one, own in zip(each, trained, strict=True)
            ]
        )
        second = np.broadcast_to(self._factor(each, "second"), memory.shape)
        self._colour = Coloured(self._factor(each, "coloured") * output_std, memory, second)
        noise = (self._factor(each, "sensor") * output_std) ** 2 + LEAST_OUTPUT_VAR
        self._R = (noise[:, :, None] * np.eye(self.output_dim))[:, None]
        trained_var = np.exp(2.0 * self.models.transition.log_process_std)
        process = trained_var[:, :, None] * np.eye(self._latent)
        process = process + self._factor(each, "process")[:, :, None] ** 2 * self._shape
        self.state_dim = self._latent + self._colour.size
        nothing = np.zeros((self.members, self._latent, self._latent))
        # What no state changes: the coloured noise's part of a step, and the process noise.
        self._A = block_diagonal(nothing, self._colour.A)[:, None]
        self._Q = block_diagonal(process, self._colour.Q)[:, None]

    @property
    def shown(self) -> int:
        return self._latent

    def first(self) -> Belief:
        """The prior of training: N(0, I)."""
        return self._belief(np.zeros((self.members, self._latent)), np.ones(self._latent))

    def _belief(self, mean: Float[Array, "M Dx"], variance: Array) -> Belief:
        whole = np.zeros((self.members, 1, self.state_dim))
        whole[:, 0, : self._latent] = mean
        latent = np.broadcast_to(variance, mean.shape)[:, :, None] * np.eye(self._latent)
        return Belief(whole, block_diagonal(latent, self._colour.first)[:, None])

    def recognised(
        self, u: Float[Array, "L Du"], y: Float[Array, "L Dy"]
    ) -> tuple[int, Belief] | None:
        """The first state by the recognition model; None where nothing was measured."""
        recognition = self.models.recognition
        if recognition is None or np.isnan(y).all():
            return None
        filled = Record(u, y).outputs_filled()
        moments = [_member(recognition, at)(filled, u, xp=np) for at in range(self.members)]
        mean, log_std = (np.stack(part) for part in zip(*moments, strict=True))
        return 0, self._belief(mean, np.exp(2.0 * log_std))

    def _whole(self, x: Array, value: Array, slope: Array, *, variance: Array) -> Local:
        """The step of [x; d] from that of x; `variance` is what the GP does not know."""
        n = self._latent
        alone = value.shape[1] == 1  # then copying is faster
        A = self._A.copy() if alone else np.repeat(self._A, value.shape[1], axis=1)
        Q = self._Q.copy() if alone else np.repeat(self._Q, value.shape[1], axis=1)
        A[:, :, :n, :n] = slope
        Q.reshape(*Q.shape[:2], -1)[:, :, : n * self.state_dim : self.state_dim + 1] += variance
        if self._colour.size:
            later = x[:, :, n:] @ np.swapaxes(self._colour.A, 1, 2)
            value = np.concatenate([value, later], axis=2)
        return Local(value, A, Q)

    def _with_colour(self, x: Array, value: Array) -> Array:
        """Outputs with the coloured noise."""
        if not self._colour.size:
            return value
        return value + x[:, :, self._latent : self._latent + self.output_dim]


class PlainSpace(PRSSMSpace):
    """With the squared-exponential kernel, a plain prior mean and an affine emission.

    Plain is what `PlainMean` knows: an affine mean, with or without neurons beside it.
    """

    def __init__(
        self,
        models: StateSpaceModel,
        window: int,
        noises: NoiseFactors | Sequence[NoiseFactors],
        shape: Float[Array, "M Dx Dx"] | None = None,
    ) -> None:
        super().__init__(models, window, noises, shape)
        transition = self.models.transition
        inputs = transition.gp.zeta.shape[-1] - self._latent
        self._gp = GPFunctions.of_sparse(transition.gp, self._latent)
        sizes = self._latent, inputs
        self._mean = PlainMean(_of_each(transition.mean, self.members, sizes, ask="network"))
        seen, offset = _of_each(self.models.emission, self.members, sizes, ask="affine")
        self._seen = np.swapaxes(seen, 1, 2)
        self._offset = offset[:, None]
        self._C_latent = seen[:, None, :, : self._latent]
        self._set_output()

    def with_noises(self, each: Sequence[NoiseFactors]) -> Self:
        other = super().with_noises(each)
        other._set_output()
        return other

    def _set_output(self) -> None:
        shape = (self.members, 1, *self._colour.C.shape)
        colour = np.broadcast_to(self._colour.C, shape)
        self._C = np.concatenate([self._C_latent, colour], axis=3)

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        xu = self._joined(x, u)
        f, slope, variance = self._gp(xu)
        mean, mean_slope = self._mean(xu)
        return self._whole(x, mean + f, slope + mean_slope, variance=variance)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        value = self._joined(x, u) @ self._seen + self._offset
        return Local(self._with_colour(x, value), self._C, self._R)

    def _joined(self, x: Array, u: Array) -> Array:
        inputs = np.broadcast_to(u, (self.members, *u.shape))
        return np.concatenate([x[:, :, : self._latent], inputs], axis=2)


class JaxSpace(PRSSMSpace):
    """With any kernel, prior mean and emission that JAX can differentiate; slower to call."""

    def __init__(
        self,
        models: StateSpaceModel,
        window: int,
        noises: NoiseFactors | Sequence[NoiseFactors],
        shape: Float[Array, "M Dx Dx"] | None = None,
    ) -> None:
        super().__init__(models, window, noises, shape)
        self._dynamics = conditioned(self.models)
        self._step = jax.jit(jax.vmap(_local_step, in_axes=(0, 0, None)))
        self._output = jax.jit(jax.vmap(_local_output, in_axes=(0, 0, None)))

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        with double_precision():
            found = self._step(self._dynamics, jnp.asarray(x[:, :, : self._latent]), jnp.asarray(u))
        value, slope, variance = (np.asarray(part) for part in found)
        trained_var = np.exp(2.0 * self.models.transition.log_process_std)[:, None]
        return self._whole(x, value, slope, variance=variance - trained_var)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        with double_precision():
            emission = self.models.emission
            found = self._output(emission, jnp.asarray(x[:, :, : self._latent]), jnp.asarray(u))
        value, C = (np.asarray(part) for part in found)
        colour = np.broadcast_to(self._colour.C, (*C.shape[:2], *self._colour.C.shape))
        return Local(self._with_colour(x, value), np.concatenate([C, colour], axis=3), self._R)


def space_of(
    models: StateSpaceModel,
    window: int,
    noises: NoiseFactors | Sequence[NoiseFactors],
    shape: Float[Array, "M Dx Dx"] | None = None,
) -> PRSSMSpace:
    """The fastest that knows the models, whose arrays lead with the members."""
    return (PlainSpace if is_plain(models) else JaxSpace)(models, window, noises, shape)


def is_plain(models: StateSpaceModel) -> bool:
    """Whether `PlainSpace` knows the models."""
    one = _member(models, 0)
    latent = len(one.transition.log_process_std)
    sizes = latent, one.transition.gp.zeta.shape[-1] - latent
    return (
        type(one.transition.gp.kernel) is SquaredExponential
        and one.transition.mean.network(*sizes) is not None
        and one.emission.affine(*sizes) is not None
    )


def conditioned(models: StateSpaceModel) -> Dynamics:
    """The dynamics of all members, nothing shared between their latent dimensions."""
    with double_precision():
        dynamics = jax.jit(jax.vmap(lambda one: one.condition().unshared()))(models.transition)
        return jax.tree.map(np.asarray, dynamics)


def _of_each(part: object, members: int, sizes: tuple[int, int], *, ask: str) -> list[Array]:
    """What a method of a prior mean or an emission gives, each array stacked over the members."""
    with double_precision():
        each = [getattr(_member(part, at), ask)(*sizes) for at in range(members)]
        return [np.stack([np.asarray(p) for p in q]) for q in zip(*each, strict=True)]


def _member(tree, at):  # type: ignore[no-untyped-def]
    """One member of a tree whose arrays lead with the members."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[at], tree)


def _local_step(dynamics: Dynamics, x: jax.Array, u: jax.Array) -> tuple:
    """Means (B, Dx), Jacobians and variances of the next states."""

    def mean(state: jax.Array, inputs: jax.Array) -> jax.Array:
        return dynamics(state[:, None], inputs[:, None])[0][:, 0]

    value, variance = dynamics(x.T, u.T)
    return value.T, jax.vmap(jax.jacfwd(mean))(x, u), variance.T


def _local_output(emission, x: jax.Array, u: jax.Array) -> tuple:  # type: ignore[no-untyped-def]
    """Outputs (B, Dy) and their Jacobians."""

    def one(state: jax.Array, inputs: jax.Array) -> jax.Array:
        return emission(state[None, :, None], inputs[None, :, None])[0, :, 0]

    return jax.vmap(one)(x, u), jax.vmap(jax.jacfwd(one))(x, u)
