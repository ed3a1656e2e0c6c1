"""The evidence lower bound of PR-SSM and the model whose parameters it trains.

ELBO = sum_t E_q(x_t)[log p(y_t | x_t)] - sum_d KL(q(z_d) || p(z_d)) - KL(q(x_1) || p(x_1))
with the expectation replaced by the mean over N reparametrised trajectories, and the sum over time by a mini-batch of
sub-trajectories scaled to the data set.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, Int, PRNGKeyArray

from prssm.data.windows import Windows
from prssm.models.emission import Emission
from prssm.models.recognition import Recognition, kl_to_standard_normal
from prssm.models.rollout import Engine, rollout
from prssm.models.transition import Dynamics, Transition


class StateSpaceModel(eqx.Module):
    """All parameters of a PR-SSM. Without a recognition model the first state is N(0, I), fixed."""

    transition: Transition
    emission: Emission
    recognition: Recognition | None
    log_output_std: Float[Array, " Dy"]

    def first_state(self, y: Float[Array, "L Dy"], u: Float[Array, "L Du"]) -> tuple[Array, Array]:
        """Mean and log standard deviation of q(x_1)."""
        if self.recognition is None:
            zeros = jnp.zeros_like(self.transition.log_process_std)
            return zeros, zeros
        return self.recognition(y, u)


class TrainingData(eqx.Module):
    """Windows on the device; arrays only, so that new data of the same shape needs no new compilation."""

    u: Float[Array, "rows Du"]
    y: Float[Array, "rows Dy"]
    y_filled: Float[Array, "rows Dy"]
    starts: Int[Array, " W"]
    steps: Float[Array, ""]

    @classmethod
    def of(cls, windows: Windows) -> "TrainingData":
        return cls(*(jnp.asarray(a) for a in (windows.u, windows.y, windows.y_filled, windows.starts)),
                   jnp.asarray(float(windows.steps)))


@dataclass(frozen=True)
class Objective:
    """The ELBO estimate for given structure; hashable, so that it can be a static argument of compiled code."""

    horizon: int
    batch: int | None  # None: every window, the full gradient
    samples: int
    window: int
    engine: Engine = "adjoint"

    def __call__(self, model: StateSpaceModel, data: TrainingData, key: PRNGKeyArray,
                 kl_weight: float | Array = 1.0) -> Float[Array, ""]:
        """One stochastic estimate of the ELBO of the whole data set; `kl_weight` below 1 only while training warms up."""
        key_batch, key_noise = jax.random.split(key)
        starts, scale = self._draw(data, key_batch)
        rows = starts[:, None] + jnp.arange(self.horizon)
        y, u = data.y[rows], data.u[rows]  # (batch, T, D)
        mean, log_std = jax.vmap(model.first_state)(data.y_filled[rows[:, : self.window]], u[:, : self.window])
        dynamics, kl_z = model.transition.condition_and_kl()
        states = self._trajectories(dynamics, mean, log_std, u, key_noise)
        log_likelihood = self._expected_log_likelihood(model, states, y)
        kl_first = jnp.sum(kl_to_standard_normal(mean, log_std))
        return scale * log_likelihood - kl_weight * (scale * kl_first + kl_z)

    def _draw(self, data: TrainingData, key: PRNGKeyArray) -> tuple[Array, Array | float]:
        """Starts of the mini-batch, and the factor from its number of steps to the data set's."""
        if self.batch is None:
            return data.starts, 1.0
        starts = jax.random.choice(key, data.starts, (self.batch,))
        return starts, data.steps / (self.batch * self.horizon)

    def _trajectories(self, dynamics: Dynamics, mean: Float[Array, "batch Dx"], log_std: Float[Array, "batch Dx"],
                      u: Float[Array, "batch T Du"], key: PRNGKeyArray) -> Float[Array, "T Dx B"]:
        """N trajectories for each sub-trajectory; B runs over sub-trajectories, then samples."""
        first_mean, first_std = (jnp.repeat(part.T, self.samples, axis=1) for part in (mean, jnp.exp(log_std)))
        inputs = jnp.repeat(jnp.transpose(u, (1, 2, 0)), self.samples, axis=2)
        eps = jax.random.normal(key, (self.horizon, *first_mean.shape), first_mean.dtype)
        x1 = first_mean + first_std * eps[-1]  # the last row: no step follows x_T, so the recursion leaves it unused
        return rollout(dynamics, x1, inputs, eps, self.engine)

    def _expected_log_likelihood(self, model: StateSpaceModel, states: Array, y: Float[Array, "batch T Dy"]) -> Array:
        """Summed over steps and outputs that were measured, averaged over samples."""
        predicted = model.emission(states).reshape(self.horizon, y.shape[2], y.shape[0], self.samples)
        target = jnp.transpose(y, (1, 2, 0))[..., None]
        measured = ~jnp.isnan(target)
        # The input of the density is masked, not its result: a NaN would come back through the gradient.
        density = norm.logpdf(jnp.where(measured, target, 0.0), predicted, jnp.exp(model.log_output_std)[:, None, None])
        return jnp.sum(jnp.where(measured, density, 0.0)) / self.samples
