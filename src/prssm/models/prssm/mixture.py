"""Free runs of a mixture of trained PR-SSMs: every member has its share of the trajectories."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from prssm.data.record import Record
from prssm.dynamics.engines.choice import conditioned, rollout
from prssm.foundation.errors import DataError
from prssm.models.estimator import Simulated
from prssm.models.prssm.elbo import Draws, StateSpaceModel, one_function_each


class Mixture(eqx.Module):
    """Members of equal weight, the best one first."""

    models: StateSpaceModel  # arrays lead with the members
    # first samples that the recognition model reads; 0 without one
    window: int = eqx.field(static=True)
    draws: Draws = eqx.field(static=True)

    def run(self, u: np.ndarray, y_start: np.ndarray, count: int, seed: int) -> Simulated:
        """A free run of `count` trajectories over scaled inputs (T, Du)."""
        means, log_stds = self.first_states(u, y_start)
        share = -(-count // len(means))
        runs = _free_runs(
            self.models,
            means,
            log_stds,
            u=u,
            key=jax.random.key(seed),
            count=share,
            draws=self.draws,
        )
        states, outputs, drawn, noise_var = (np.asarray(part) for part in runs)
        # (T, Dy, members * share)
        outputs, drawn = (np.concatenate(list(part), axis=2) for part in (outputs, drawn))
        # members take turns
        shown = np.random.default_rng(seed).permutation(drawn.shape[2])[:count]
        best = states[0]  # members need not agree on what their states mean
        return Simulated(
            mean=outputs.mean(axis=2),
            std=np.sqrt(outputs.var(axis=2, ddof=1) + noise_var.mean(axis=0)),
            samples=np.transpose(drawn[:, :, shown], (2, 0, 1)),
            state_mean=best.mean(axis=2),
            state_std=best.std(axis=2, ddof=1),
        )

    def first_states(self, u: np.ndarray, y_start: np.ndarray) -> tuple[Array, Array]:
        """q(x_1) of every member; the prior N(0, I) where there is no recognition model or nothing
        was measured.
        """
        if self.window == 0 or np.isnan(y_start).all():
            blank = jnp.zeros_like(self.models.transition.log_process_std)
            return blank, blank
        if len(y_start) < self.window:
            raise DataError(
                f"a simulation starts from {self.window} samples, the record has {len(y_start)}"
            )
        filled = Record(u[: self.window], y_start[: self.window]).outputs_filled()
        return _first_states(self.models, filled, u[: self.window])


@jax.jit
def _first_states(models: StateSpaceModel, y: Array, u: Array) -> tuple[Array, Array]:
    return jax.vmap(lambda model: model.first_state(y, u))(models)


@partial(jax.jit, static_argnames=("count", "draws"))
def _free_runs(
    models: StateSpaceModel,
    means: Array,
    log_stds: Array,
    u: Array,
    key: PRNGKeyArray,
    count: int,
    draws: Draws,
) -> tuple[Array, Array, Array, Array]:
    """States, noise-free outputs, drawn measurements of `count` trajectories of each member
    (members, T, D, count), and the variances of the sensors' noise (members, D).
    """
    keys = jax.random.split(key, len(means))
    return jax.vmap(lambda *member: _free_run(*member, u, count, draws))(
        models, means, log_stds, keys
    )


def _free_run(
    model: StateSpaceModel,
    mean: Array,
    log_std: Array,
    key: PRNGKeyArray,
    u: Array,
    count: int,
    draws: Draws,
) -> tuple[Array, Array, Array, Array]:
    key_state, key_eps, key_noise, key_function = jax.random.split(key, 4)
    x1 = mean[:, None] + jnp.exp(log_std)[:, None] * jax.random.normal(
        key_state, (len(mean), count)
    )
    eps = jax.random.normal(key_eps, (len(u), len(mean), count))
    inputs = jnp.broadcast_to(u[:, :, None], (*u.shape, count))
    dynamics = conditioned(model.transition)
    if draws == "trajectory":
        dynamics = one_function_each(dynamics, key_function, count)
    states = rollout(dynamics, x1, inputs, eps=eps)
    outputs = model.emission(states, inputs)
    noise_std = jnp.exp(model.log_output_std)
    noise = noise_std[:, None] * _unit_noise(model.correlation, outputs.shape, key_noise)
    return states, outputs, outputs + noise, noise_std**2


def _unit_noise(
    correlation: Array, shape: tuple[int, ...], key: PRNGKeyArray
) -> Float[Array, "T Dy N"]:
    """Gaussian noise of unit variance, correlated from one step to the next."""
    white = jax.random.normal(key, shape)
    memory = correlation[:, None]

    def step(before: Array, fresh: Array) -> tuple[Array, Array]:
        now = memory * before + jnp.sqrt(1.0 - memory**2) * fresh
        return now, now

    return jnp.concatenate([white[:1], jax.lax.scan(step, white[0], white[1:])[1]])
