"""The evidence lower bound of PR-SSM and the model whose parameters it trains.

ELBO = sum_t E_q(x_t)[log p(y_t | x_t)] - sum_d KL(q(z_d) || p(z_d)) - KL(q(x_1) || p(x_1)) with the
expectation replaced by the mean over N reparametrised trajectories, and the sum over time by a
mini-batch of sub-trajectories scaled to the data set.
"""

from dataclasses import dataclass
from typing import Any, Literal, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from prssm.data.windows import Windows
from prssm.dynamics.engines.choice import Engine, conditioned, recognition_here
from prssm.dynamics.sharded import sharded_rollout
from prssm.dynamics.transition import Dynamics, Mean, Transition
from prssm.foundation.arrays import AnyArray
from prssm.inference.gaussian.remembering import log_density
from prssm.models.prssm.emission import Emission
from prssm.models.prssm.recognition import Recognition, kl_to_standard_normal
from prssm.training.optimise import PerRestart

Draws = Literal["step", "trajectory"]
"""A new value of z at every step, as in the paper, or one for each trajectory: then the function's
uncertainty does not average out over time.
"""

Likelihood = Literal["expected", "predictive"]
"""E_q[log p(y_t | x_t)], the ELBO's, or log E_q[p(y_t | x_t)] with the expectation taken as
Gaussian: then a spread of the states that matches the errors pays, so that training can tell
process noise.
"""


_LARGEST_CORRELATION = 0.99


class StateSpaceModel(eqx.Module):
    """All parameters of a PR-SSM. Without a recognition model the first state is N(0, I), fixed."""

    transition: Transition
    emission: Emission
    recognition: Recognition | None
    log_output_std: Float[AnyArray, " Dy"]
    # 0: white noise, and stays 0 unless training gives it a weight
    noise_memory: Float[AnyArray, " Dy"]

    @property
    def correlation(self) -> Float[Array, "... Dy"]:
        """Of the noise from one sample to the next."""
        return self.correlation_of(jnp)

    def correlation_of(self, xp: Any) -> Any:
        """The same in another array library, such as NumPy."""
        return _LARGEST_CORRELATION * xp.tanh(self.noise_memory)

    def first_state(self, y: Float[Array, "L Dy"], u: Float[Array, "L Du"]) -> tuple[Array, Array]:
        """Mean and log standard deviation of q(x_1)."""
        if self.recognition is None:
            zeros = jnp.zeros_like(self.transition.log_process_std)
            return zeros, zeros
        return self.recognition(y, u)

    def first_states(
        self, y: Float[Array, "n L Dy"], u: Float[Array, "n L Du"]
    ) -> tuple[Float[Array, "n Dx"], Float[Array, "n Dx"]]:
        """The same for many windows, in the way that is fastest where JAX computes."""
        compiled = recognition_here(len(y))
        if self.recognition is None or compiled is None:
            return jax.vmap(self.first_state)(y, u)
        sample = jnp.concatenate([y.reshape(len(y), -1), u.reshape(len(u), -1)], axis=1)
        network = self.recognition.network(sample.dtype)
        return compiled(network, sample.astype(network.hidden_bias.dtype), self.recognition.shown)


class TrainingData(eqx.Module):
    """Windows on the device.

    Arrays only, so that new data of the same shape needs no new compilation.
    """

    u: Float[AnyArray, "rows Du"]
    y: Float[AnyArray, "rows Dy"]
    y_filled: Float[AnyArray, "rows Dy"]
    starts: Int[AnyArray, " W"]
    steps: Float[AnyArray, ""]

    @classmethod
    def of(cls, windows: Windows) -> "TrainingData":
        return cls(
            jnp.asarray(windows.u),
            jnp.asarray(windows.y),
            jnp.asarray(windows.y_filled),
            starts=jnp.asarray(windows.starts),
            steps=jnp.asarray(float(windows.steps)),
        )


class Anchor(eqx.Module):
    """Parameters that no Gaussian process stands behind, at the start of training.

    Their prior is a Gaussian around it.
    """

    mean: Mean
    emission: Emission
    recognition: Recognition | None

    @classmethod
    def of(cls, model: StateSpaceModel) -> "Anchor":
        return cls(model.transition.mean, model.emission, model.recognition)

    def squared_distance(self, model: StateSpaceModel) -> Float[Array, ""]:
        pairs = zip(jax.tree.leaves(self), jax.tree.leaves(Anchor.of(model)), strict=True)
        return sum((jnp.sum((here - there) ** 2) for here, there in pairs), jnp.zeros(()))


class Shown(eqx.Module):
    """What one restart is shown of the data: the rest is held out from its training."""

    rows: Bool[AnyArray, " rows"]
    starts: Int[AnyArray, " W"]
    steps: Float[AnyArray, ""]

    def of(self, data: TrainingData) -> TrainingData:
        y = jnp.where(self.rows[:, None], data.y, jnp.nan)
        return TrainingData(data.u, y, data.y_filled, starts=self.starts, steps=self.steps)


class Own(eqx.Module):
    """What is each restart's own in the training of many."""

    shown: Shown
    anchor: Anchor
    gp_weight: Float[Array, ""]  # of the GP's KL; 1 is the ELBO
    anchor_precision: Float[Array, ""]  # of the prior around the anchor; 0 is none
    memory_weight: Float[Array, ""]  # of the noise's correlation; 0: white noise

    def divergence(self, model: StateSpaceModel, dynamics: Dynamics) -> Float[Array, ""]:
        """What the parameters cost.

        KL(q(z) || p(z)), and the distance from the anchor under its prior.
        """
        return (
            self.gp_weight * dynamics.kl()
            + 0.5 * self.anchor_precision * self.anchor.squared_distance(model)
        )


@dataclass(frozen=True)
class Objective:
    """The ELBO estimate for given structure.

    Hashable, so that it can be a static argument of compiled code.
    """

    horizon: int
    batch: int | None  # None: every window, the full gradient
    samples: int
    window: int
    engine: Engine = "auto"
    draws: Draws = "step"
    likelihood: Likelihood = "expected"
    mesh: Mesh | None = None  # devices between which the trajectories are split
    drawn: bool = False  # the data are the windows of one mini-batch

    def __call__(
        self,
        model: StateSpaceModel,
        data: TrainingData | PerRestart,
        key: PRNGKeyArray,
        kl_weight: float | Array = 1.0,
    ) -> Float[Array, ""]:
        """One stochastic estimate of the ELBO of the whole data set.

        `kl_weight` below 1 only while training warms up.
        """
        own: Own | None = None
        if isinstance(data, PerRestart):
            own = cast(Own, data.own)
            data = own.shown.of(data.shared)
        key_batch, key_noise = jax.random.split(key)
        starts, scale = self._draw(data, key_batch)
        rows = starts[:, None] + jnp.arange(self.horizon)
        # (batch, T, D)
        y = data.y[rows]
        u = data.u[rows]
        mean, log_std = model.first_states(
            data.y_filled[rows[:, : self.window]], u[:, : self.window]
        )
        dynamics = conditioned(model.transition)
        # B: sub-trajectories, then samples
        inputs = jnp.repeat(jnp.transpose(u, (1, 2, 0)), self.samples, axis=2)
        states = self._trajectories(dynamics, mean, log_std, inputs=inputs, key=key_noise)
        # The correlation comes in with the KL: from the beginning it would explain what the
        # dynamics have yet to learn.
        # It is bounded, not scaled: a scaled one would grow far beyond what it is, and not find
        # back in time.
        correlation = (0.0 if own is None else own.memory_weight) * jnp.minimum(
            model.correlation, kl_weight
        )
        log_likelihood = self._expected_log_likelihood(
            model, states, inputs, y=y, correlation=correlation
        )
        kl_first = jnp.sum(kl_to_standard_normal(mean, log_std))
        divergence = dynamics.kl() if own is None else own.divergence(model, dynamics)
        return scale * log_likelihood - kl_weight * (scale * kl_first + divergence)

    def _draw(self, data: TrainingData, key: PRNGKeyArray) -> tuple[AnyArray, Array | float]:
        """Starts of the mini-batch, and the factor from its number of steps to the data set's."""
        if self.batch is None:
            return data.starts, 1.0
        starts = data.starts if self.drawn else jax.random.choice(key, data.starts, (self.batch,))
        return starts, jnp.asarray(data.steps) / (self.batch * self.horizon)

    def _trajectories(
        self,
        dynamics: Dynamics,
        mean: Float[Array, "batch Dx"],
        log_std: Float[Array, "batch Dx"],
        inputs: Float[Array, "T Du B"],
        key: PRNGKeyArray,
    ) -> Float[Array, "T Dx B"]:
        """N trajectories for each sub-trajectory."""
        first_mean, first_std = (
            jnp.repeat(part.T, self.samples, axis=1) for part in (mean, jnp.exp(log_std))
        )
        # drawing numbers takes time too
        kind = jnp.float32 if self.engine.endswith("-single") else first_mean.dtype
        eps = jax.random.normal(key, (self.horizon, *first_mean.shape), kind)
        # the last row: no step follows x_T, so the recursion leaves it unused
        x1 = first_mean + first_std * eps[-1]
        if self.draws == "trajectory":
            dynamics = one_function_each(dynamics, jax.random.fold_in(key, 1), x1.shape[1])
        return sharded_rollout(self.mesh, dynamics, x1, u=inputs, eps=eps, engine=self.engine)

    def _expected_log_likelihood(
        self,
        model: StateSpaceModel,
        states: Array,
        inputs: Array,
        y: Float[Array, "batch T Dy"],
        correlation: Float[Array, " Dy"],
    ) -> Array:
        """Summed over steps and outputs that were measured, averaged over samples."""
        predicted = model.emission(states, inputs).reshape(
            self.horizon, y.shape[2], y.shape[0], self.samples
        )
        target = jnp.transpose(y, (1, 2, 0))[..., None]
        measured = ~jnp.isnan(target)
        # The input of the density is masked, not its result: a NaN would come back through the
        # gradient.
        error = jnp.where(measured, target, 0.0)
        noise_var = jnp.exp(2.0 * model.log_output_std)[:, None, None]
        if self.likelihood == "predictive":
            noise_var += jnp.var(predicted, axis=3, keepdims=True, ddof=1)
            predicted = jnp.mean(predicted, axis=3, keepdims=True)
        density = log_density(
            error - predicted, noise_var, measured, correlation=correlation[:, None, None]
        )
        return density / predicted.shape[3]


def one_function_each(dynamics: Dynamics, key: PRNGKeyArray, trajectories: int) -> Dynamics:
    """The dynamics with one draw of all inducing outputs for each trajectory."""
    shape = (*dynamics.gp.mean.shape, trajectories)
    return dynamics.drawn(jax.random.normal(key, shape, dynamics.gp.zeta.dtype))
