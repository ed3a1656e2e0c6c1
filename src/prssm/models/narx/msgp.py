"""MSGP (Doerr et al. 2017): a sparse GP trained on its own long-term predictions.

Its lag window is free of noise. From the measured outputs of the first L rows of a sub-trajectory
the model runs freely by moment matching, and is judged by the log-density of every measurement on
the way: sum_t log N(y_t; mean_t, var_t + sigma_y^2). The gradient goes through the whole run. The
KL divergence of the function at the pseudo inputs from its prior keeps 100 of them from learning
noise.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from prssm.data import windows
from prssm.data.record import Record
from prssm.foundation.errors import DataError
from prssm.foundation.options import option
from prssm.gp.conditional import Conditional
from prssm.gp.fitc import FITC
from prssm.gp.kernels import squared_exponential_only
from prssm.gp.linalg import JITTER, one_by_one
from prssm.gp.pseudo_data import PseudoData
from prssm.models.lagged import LaggedConfig
from prssm.models.narx.free_run import Window, step_moments
from prssm.models.narx.gp_narx import GPNARXConfig, fit_fitc
from prssm.models.narx.narx import Learnt, NarxEstimator, stacked
from prssm.training.checkpoint import fingerprint
from prssm.training.optimise import Schedule, optimise
from prssm.training.session import Session, Silent

# Relative to the outputs' deviation: a start that is too sure makes the first gradients explode.
_LEAST_START_NOISE = 0.05

_FINAL_RATE = 0.1  # of the learning rate, at the end of training


@dataclass(frozen=True)
class MSGPConfig(LaggedConfig):
    """Options of MSGP."""

    inducing: int = option(
        100, "inducing points of each output's GP (fewer if there are fewer windows)", minimum=1
    )
    horizon: int = option(
        100,
        "steps that a training run predicts (fewer where the shortest record has fewer)",
        minimum=1,
    )
    batch: int = option(5, "sub-trajectories in a step of the optimiser", minimum=1)
    iterations: int = option(150, "steps of the optimiser (Adam)", minimum=0)
    learning_rate: float = option(0.02, "step size of the optimiser", above=0.0)
    start_iterations: int = option(
        100, "iterations of the one-step fit (FITC) from which training starts", minimum=0
    )
    max_points: int | None = option(
        2000, "windows in the one-step fit, drawn at random; none: all", minimum=2
    )


PAPER = MSGPConfig()


class MultiStepModel(eqx.Module):
    """What is trained: a pseudo data set for each output, and the sensor noise.

    The arrays of `gp` lead with the output axis.
    """

    gp: PseudoData
    log_output_std: Float[Array, " Dy"]

    def condition(self) -> Conditional:
        return one_by_one(PseudoData.condition, (self.gp,))


class Trajectories(NamedTuple):
    """All records laid end to end, and the rows where a sub-trajectory may start.

    data.windows says what each part holds.
    """

    u: Array
    y: Array
    y_filled: Array
    starts: Array
    steps: Array


@dataclass(frozen=True)
class LongTermObjective:
    """A mini-batch estimate of the long-term log-likelihood of all data, less the KL divergence."""

    lags: int
    horizon: int
    batch: int

    def __call__(
        self, model: MultiStepModel, data: Trajectories, key: PRNGKeyArray, kl_weight: Array
    ) -> Array:
        chosen = jax.random.choice(key, data.starts, (self.batch,))
        gps = model.condition()
        densities = jax.vmap(
            lambda start: self.run_density(gps, model.log_output_std, data, start=start)
        )(chosen)
        weight = data.steps / (self.batch * self.horizon)
        return weight * jnp.sum(densities) - kl_weight * jnp.sum(
            one_by_one(PseudoData.kl, (model.gp,))
        )

    def run_density(
        self, gps: Conditional, log_output_std: Array, data: Trajectories, start: Array
    ) -> Array:
        """sum_t log N(y_t; mean_t, var_t + sigma_y^2) over one free run.

        Missing outputs do not count.
        """
        length = self.lags + self.horizon
        u, y, filled = (
            jax.lax.dynamic_slice_in_dim(part, start, length)
            for part in (data.u, data.y, data.y_filled)
        )
        output_var = jnp.exp(2.0 * log_output_std)
        window = Window(
            filled[: self.lags][::-1].ravel(), jnp.diag(jnp.tile(output_var, self.lags))
        )
        past_u = jnp.stack([u[t : t + self.lags][::-1].ravel() for t in range(self.horizon)])

        @jax.checkpoint  # a step's kernel matrices are cheaper to compute again than to keep
        def step(window: Window, inputs: tuple[Array, Array]) -> tuple[Window, Array]:
            u_t, y_t = inputs
            window, new = step_moments(gps, jnp.zeros_like(output_var), window, u=u_t)
            std = jnp.sqrt(jnp.maximum(jnp.diagonal(new.covariance), 0.0) + output_var)
            known = ~jnp.isnan(y_t)
            density = norm.logpdf(jnp.where(known, y_t, new.mean), new.mean, std)
            return window, jnp.sum(jnp.where(known, density, 0.0))

        return jnp.sum(jax.lax.scan(step, window, (past_u, y[self.lags :]))[1])


class MSGP(NarxEstimator):
    """Autoregressive GP in a noise-free window, trained through its long-term predictions."""

    name: ClassVar[str] = "msgp"
    Config = MSGPConfig
    PRESETS: ClassVar = {"default": PAPER, "paper": PAPER}
    config: MSGPConfig

    def _learn(self, records: list[Record], lags: int, session: Session) -> Learnt:
        config = self.config
        usable = [record for record in records if len(record) > lags]
        if not usable:
            raise DataError(f"{records[0].name}: no record has more than lags={lags} rows")
        horizon = min(config.horizon, min(len(record) for record in usable) - lags)
        cut = windows.sliding(usable, lags + horizon)
        data = Trajectories(
            *(
                jnp.asarray(part)
                for part in (cut.u, cut.y, cut.y_filled, cut.starts, float(cut.steps))
            )
        )
        start = jax.tree.map(lambda leaf: leaf[None], start_model(records, lags, config))
        objective = LongTermObjective(lags, horizon, config.batch)
        schedule = Schedule(
            config.iterations, config.learning_rate, _FINAL_RATE * config.learning_rate
        )
        model, log = optimise(
            objective,
            start,
            data,
            schedule=schedule,
            key=jax.random.key(config.seed),
            session=session,
            fingerprint=fingerprint(config, vars(cut).values()),
        )
        output_std = np.exp(np.asarray(model.log_output_std))
        return Learnt(_condition(model), np.zeros_like(output_std), output_std, training=log)


def start_model(records: list[Record], lags: int, config: MSGPConfig) -> MultiStepModel:
    """The one-step model (FITC) as pseudo data."""
    one_step = GPNARXConfig(
        lags=lags,
        inducing=config.inducing,
        iterations=config.start_iterations,
        restarts=1,
        max_points=config.max_points,
        seed=config.seed,
    )
    fits, data, _ = fit_fitc(records, lags, one_step, session=Session(Silent()))
    gps = [
        _pseudo_data(fit, jnp.asarray(data.x), jnp.asarray(y))
        for fit, y in zip(fits, data.y.T, strict=True)
    ]
    noise = jnp.stack([fit.log_noise_std for fit in fits])
    return MultiStepModel(
        stacked(gps),
        jnp.maximum(noise, jnp.log(_LEAST_START_NOISE * jnp.asarray(data.y.std(axis=0)))),
    )


@jax.jit
def _pseudo_data(fit: FITC, x: Array, y: Array) -> PseudoData:
    """Pseudo data with the same posterior mean.

    Each pseudo point is as informative as the N / P data that it stands for.
    """
    posterior = fit.condition(x, y)
    residual_var = jnp.mean((y - posterior(x.T)[0]) ** 2)
    least = JITTER * jnp.exp(2.0 * squared_exponential_only(fit.kernel).log_std)
    noise_var = jnp.full(len(fit.zeta), jnp.maximum(residual_var * len(fit.zeta) / len(y), least))
    targets = fit.kernel.gram(fit.zeta) @ posterior.weights + noise_var * posterior.weights
    return PseudoData(fit.kernel, fit.zeta, targets, log_noise_std=0.5 * jnp.log(noise_var))


@eqx.filter_jit
def _condition(model: MultiStepModel) -> Conditional:
    return jax.tree.map(jnp.asarray, model).condition()
