"""PR-SSM (Doerr et al., ICML 2018): the estimator. Its mathematics is in transition, rollout, recognition and elbo."""

from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from prssm.data import windows
from prssm.data.record import Record
from prssm.foundation.errors import DataError, OptionError
from prssm.gp.kernels import KERNELS
from prssm.gp.sparse import SparseGP
from prssm.models.base import Estimator, Simulated
from prssm.models.elbo import Objective, StateSpaceModel, TrainingData
from prssm.models.emission import build_emission
from prssm.models.prssm_config import PAPER, PRSSMConfig
from prssm.models.recognition import Recognition
from prssm.models.rollout import rollout
from prssm.models.transition import MEANS, Transition
from prssm.training.checkpoint import fingerprint
from prssm.training.log import TrainingLog
from prssm.training.optimise import Schedule, optimise
from prssm.training.session import Session


class PRSSM(Estimator):
    """Probabilistic recurrent state-space model: GP dynamics in a latent state, trained through time on an ELBO."""

    name: ClassVar[str] = "prssm"
    Config = PRSSMConfig
    PRESETS: ClassVar = {"default": PAPER, "paper": PAPER}

    @property
    def warmup(self) -> int:
        return self.config.recognition_window if self.config.scheme == "stochastic" else 0

    def _fit(self, records: list[Record], session: Session) -> None:
        config: PRSSMConfig = self.config
        self._check_structure(records)
        full = config.scheme == "full"
        cut = windows.whole(records) if full else windows.sliding(records, config.horizon)
        objective = Objective(cut.horizon, None if full else config.batch, config.samples, config.recognition_window,
                              config.engine)
        starts = create_starts(config, records[0].input_dim, records[0].output_dim)
        schedule = Schedule(config.iterations, config.learning_rate, config.final_learning_rate,
                            warmup=round(config.kl_warmup * config.iterations), clip=config.gradient_clip * cut.steps)
        self.model_, self.training_ = optimise(objective, starts, TrainingData.of(cut), schedule,
                                               jax.random.key(config.seed), session, fingerprint(config, vars(cut).values()))

    def _check_structure(self, records: list[Record]) -> None:
        config: PRSSMConfig = self.config
        if config.emission == "selector" and config.latent_dim < records[0].output_dim:
            raise OptionError(f"option latent_dim: expected at least {records[0].output_dim}, the number of outputs, "
                              f"got {config.latent_dim}")
        if config.scheme == "stochastic" and config.recognition_window > config.horizon:
            raise OptionError(f"option recognition_window: expected at most horizon={config.horizon}, "
                              f"got {config.recognition_window}")

    def _simulate(self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int) -> Simulated:
        count = self.config.simulation_samples if samples is None else samples
        if count < 2:
            raise OptionError(f"samples: expected at least 2 trajectories, got {count}")
        mean, log_std = self._first_state(u, y_start)
        states, outputs, samples_y = _free_run(self.model_, mean, log_std, u, jax.random.key(seed), count)
        noise_var = np.exp(2.0 * np.asarray(self.model_.log_output_std))
        states, outputs = np.asarray(states), np.asarray(outputs)  # (T, D, S)
        return Simulated(
            mean=outputs.mean(axis=2), std=np.sqrt(outputs.var(axis=2, ddof=1) + noise_var),
            samples=np.transpose(np.asarray(samples_y), (2, 0, 1)),
            state_mean=states.mean(axis=2), state_std=states.std(axis=2, ddof=1))

    def _first_state(self, u: np.ndarray, y_start: np.ndarray) -> tuple[Array, Array]:
        """q(x_1) from the first samples; the prior N(0, I) where there is no recognition model or nothing was measured."""
        latent_dim, window = self.config.latent_dim, self.warmup
        if window == 0 or np.isnan(y_start).all():
            return jnp.zeros(latent_dim), jnp.zeros(latent_dim)
        if len(y_start) < window:
            raise DataError(f"a simulation starts from {window} samples, the record has {len(y_start)}")
        filled = Record(u[:window], y_start).outputs_filled()
        return _first_state(self.model_, filled, u[:window])

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        leaves = jax.tree_util.tree_leaves_with_path(self.model_)
        values, curves = self.training_.to_parts()
        arrays = {f"model{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}
        return {"training": values}, arrays | {f"training.{name}": array for name, array in curves.items()}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        like = create_model(self.config, len(self.input_names_), len(self.output_names_), np.random.default_rng(0))
        leaves = [_shaped(arrays, f"model{jax.tree_util.keystr(path)}", leaf.shape)
                  for path, leaf in jax.tree_util.tree_leaves_with_path(like)]
        self.model_ = jax.tree.unflatten(jax.tree.structure(like), leaves)
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)


def create_starts(config: PRSSMConfig, input_dim: int, output_dim: int) -> StateSpaceModel:
    """Random starts, stacked; restart r is the same whatever the number of restarts."""
    rngs = [np.random.default_rng([config.seed, restart]) for restart in range(config.restarts)]
    models = [create_model(config, input_dim, output_dim, rng) for rng in rngs]
    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves).astype(np.float64)), *models)


def create_model(config: PRSSMConfig, input_dim: int, output_dim: int, rng: np.random.Generator) -> StateSpaceModel:
    """Random start as in the paper's table: a random walk whose transition is nearly the identity."""
    dx, p, din = config.latent_dim, config.inducing, config.latent_dim + input_dim
    factory = KERNELS[config.kernel] if isinstance(config.kernel, str) else config.kernel
    kernels = [factory(din, config.signal_std, config.lengthscale) for _ in range(dx)]
    gp = SparseGP(kernel=jax.tree.map(lambda *leaves: np.stack(leaves), *kernels),
                  zeta=rng.uniform(-config.zeta_range, config.zeta_range, (dx, p, din)),
                  z_mean=config.z_mean_std * rng.normal(size=(dx, p)), log_z_std=np.full((dx, p), np.log(config.z_std)))
    transition = Transition(gp, MEANS[config.mean](), np.full(dx, np.log(config.process_std)))
    recognition = None
    if config.scheme == "stochastic":
        shown = output_dim if config.emission == "selector" else 0
        recognition = Recognition.create(config.recognition_window * (input_dim + output_dim), dx, config.recognition_hidden,
                                         config.recognition_std, shown, rng)
    emission = build_emission(config.emission, dx, output_dim)
    return StateSpaceModel(transition, emission, recognition, np.full(output_dim, np.log(config.output_std)))


@jax.jit
def _first_state(model: StateSpaceModel, y: Array, u: Array) -> tuple[Array, Array]:
    return model.first_state(y, u)


@partial(jax.jit, static_argnames=("count",))
def _free_run(model: StateSpaceModel, mean: Array, log_std: Array, u: Array, key: PRNGKeyArray,
              count: int) -> tuple[Array, Array, Array]:
    """States, noise-free outputs and drawn measurements of `count` trajectories, each (T, D, count)."""
    key_state, key_eps, key_noise = jax.random.split(key, 3)
    x1 = mean[:, None] + jnp.exp(log_std)[:, None] * jax.random.normal(key_state, (len(mean), count))
    eps = jax.random.normal(key_eps, (len(u), len(mean), count))
    inputs = jnp.broadcast_to(u[:, :, None], (*u.shape, count))
    states = rollout(model.transition.condition(), x1, inputs, eps)
    outputs = model.emission(states)
    noise = jnp.exp(model.log_output_std)[:, None] * jax.random.normal(key_noise, outputs.shape)
    return states, outputs, outputs + noise


def _shaped(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    if arrays[name].shape != shape:
        raise TypeError(f"{name} has shape {arrays[name].shape}, the options ask for {shape}")
    return arrays[name]
