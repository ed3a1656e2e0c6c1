"""SS-GP-SSM (Svensson and Schon 2017): the estimator.

The paper is "A flexible state-space model for learning nonlinear dynamical systems". How its
settings are chosen, all from scaled training data. Prior mean and start: a linear model fitted to
the training part (as in that paper's example with real data); the basis functions learn the rest.
Box: `box` times the largest value that an input or a state of that linear model takes. Kernel: one
signal deviation and one length scale for each state and input, sampled along, with a log-normal
prior around the options' values. Noises: Q and R are sampled; their priors weigh two samples.

A free run stays finite: the linear mean is stable and the basis functions are bounded everywhere.
"""

from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from prssm.data.record import Record
from prssm.data.windows import Windows, whole
from prssm.foundation.errors import OptionError
from prssm.gp.spectral import BoxBasis
from prssm.inference.particles.gibbs import sample_path
from prssm.inference.state_space import StateSpace
from prssm.linear.output_coordinates import fit_linear_mean
from prssm.models.estimator import Estimator
from prssm.models.simulated import Simulated
from prssm.models.ssgpssm.chain import Draws, run
from prssm.models.ssgpssm.config import PAPER, SSGPSSMConfig
from prssm.models.ssgpssm.space import BasisSpace
from prssm.models.ssgpssm.sweep import Chain, Structure, Training, noise_of
from prssm.models.stored_arrays import Shape, check
from prssm.training.checkpoint import fingerprint
from prssm.training.log import TrainingLog
from prssm.training.session import Session


class SSGPSSM(Estimator):
    """GP transition as an expansion in basis functions, learnt with particle Gibbs.

    Predictions average over models from the posterior.
    """

    name: ClassVar[str] = "ss-gp-ssm"
    Config = SSGPSSMConfig
    PRESETS: ClassVar = {"default": PAPER, "paper": PAPER}
    config: SSGPSSMConfig
    training_: TrainingLog
    structure_: Structure
    draws_: Draws

    @property
    def warmup(self) -> int:
        return self.config.warmup

    def _fit(self, records: list[Record], session: Session) -> None:
        config = self.config
        config.check_structure(records[0].input_dim, records[0].output_dim)
        cut = whole(records)
        structure, paths = create_structure(records, config)
        data = create_training(cut, records, config)
        starts = create_starts(structure, paths, data, config=config)
        identity = fingerprint(config, [*vars(cut).values(), [len(record) for record in records]])
        self.draws_, self.training_ = run(
            starts, structure, data, config=config, session=session, fingerprint=identity
        )
        self.structure_ = structure

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        """Trajectories with process noise, each with its own model from the posterior.

        Its first state is drawn given that model and the first outputs.
        """
        count = self.config.simulation_samples if samples is None else samples
        if count < 2:
            raise OptionError(f"samples: expected at least 2 trajectories, got {count}")
        used = np.linspace(0, len(self.draws_.weights) - 1, count).round().astype(int)
        draws = jax.tree.map(lambda array: jnp.asarray(array[used]), self.draws_)
        key_start, key_run = jax.random.split(jax.random.key(seed))
        y = y_start if len(y_start) else np.full((1, len(self.output_names_)), np.nan)
        x1 = _first_states(
            draws, self.structure_, u[: len(y)], y=y, key=key_start, particles=self.config.particles
        )
        states, drawn = (
            np.asarray(part) for part in _free_runs(draws, self.structure_, x1, u=u, key=key_run)
        )
        outputs = states[..., : drawn.shape[-1]]
        noise_var = np.mean(np.asarray(draws.output_std) ** 2, axis=0)
        # A run that is no longer finite shows in its result, not by a warning on the way.
        with np.errstate(all="ignore"):
            return Simulated(
                mean=outputs.mean(axis=0),
                std=np.sqrt(outputs.var(axis=0, ddof=1) + noise_var),
                samples=drawn,
                state_mean=states.mean(axis=0),
                state_std=states.std(axis=0, ddof=1),
            )

    def _state_space(self) -> StateSpace:
        """Some models of the posterior, evenly drawn, as members of a mixture."""
        kept = len(self.draws_.weights)
        used = np.unique(np.linspace(0, kept - 1, _MEMBERS).round().astype(int))
        draws = jax.tree.map(lambda array: np.asarray(array)[used], self.draws_)
        return BasisSpace(self.structure_, draws)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        values, curves = self.training_.to_parts()
        structure = self.structure_
        arrays: dict[str, Any] = {
            "F": structure.F,
            "G": structure.G,
            "box_x": structure.state_basis.half_width,
            "box_u": structure.input_basis.half_width,
        }
        arrays |= {f"draws.{name}": getattr(self.draws_, name) for name in _DRAWN}
        arrays |= {f"training.{name}": curve for name, curve in curves.items()}
        return {"training": values}, {name: np.asarray(array) for name, array in arrays.items()}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        config = self.config
        inputs = len(self.input_names_)
        size = config.n_basis_x**config.latent_dim * config.n_basis_u**inputs
        check(
            arrays,
            _STORED,
            x=config.latent_dim,
            u=inputs,
            y=len(self.output_names_),
            size=size,
        )
        x, u = (jnp.asarray(arrays[name]) for name in ("box_x", "box_u"))
        self.structure_ = Structure(
            BoxBasis(x, config.n_basis_x),
            BoxBasis(u, config.n_basis_u),
            jnp.asarray(arrays["F"]),
            G=jnp.asarray(arrays["G"]),
        )
        self.draws_ = Draws(*(jnp.asarray(arrays[f"draws.{name}"]) for name in _DRAWN))
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)


_MEMBERS = 12  # models of the posterior that a filter weighs
_STORED: dict[str, Shape] = {
    "F": ("x", "x"),
    "G": ("x", "u"),
    "box_x": ("x",),
    "box_u": ("u",),
    "draws.weights": ("n", "x", "size"),
    "draws.process": ("n", "x", "x"),
    "draws.output_std": ("n", "y"),
    "draws.hyper": ("n", "hyper"),
}
_DRAWN = ("weights", "process", "output_std", "hyper")


def create_structure(
    records: list[Record], config: SSGPSSMConfig
) -> tuple[Structure, list[np.ndarray]]:
    """The linear mean, the box of the basis, and a first guess of each record's states.

    The box is around where training data have been.
    """
    mean = fit_linear_mean(records, config.latent_dim, config.seed)
    paths = []
    for record in records:
        path = mean.states(record)
        path[:, : record.output_dim] = record.outputs_filled()
        paths.append(path)
    largest_x = np.abs(np.concatenate(paths)).max(axis=0)
    largest_u = np.abs(np.concatenate([record.u for record in records])).max(axis=0)
    keep = 1.0 if config.mean == "linear" else 0.0
    box = [jnp.asarray(config.box * np.maximum(largest, 1.0)) for largest in (largest_x, largest_u)]
    structure = Structure(
        BoxBasis(box[0], config.n_basis_x),
        BoxBasis(box[1], config.n_basis_u),
        jnp.asarray(keep * mean.F),
        G=jnp.asarray(keep * mean.G),
    )
    return structure, paths


def create_training(cut: Windows, records: list[Record], config: SSGPSSMConfig) -> Training:
    shape = (len(records), cut.horizon)
    valid = np.arange(1, cut.horizon) < np.array([len(record) for record in records])[:, None]
    dims = config.latent_dim + cut.u.shape[1]
    hyper_mean = np.log([config.signal_std] + [config.lengthscale] * dims)
    return Training(
        jnp.asarray(cut.u.reshape(*shape, -1) if cut.u.shape[1] else np.zeros((*shape, 0))),
        jnp.asarray(cut.y.reshape(*shape, -1)),
        jnp.asarray(valid.astype(float)),
        process_var=jnp.asarray(config.process_std**2),
        output_var=jnp.asarray(config.output_std**2),
        hyper_mean=jnp.asarray(hyper_mean),
        sample_hyper=jnp.asarray(config.hyper == "sampled"),
    )


def create_starts(
    structure: Structure, paths: list[np.ndarray], data: Training, config: SSGPSSMConfig
) -> Chain:
    """All chains begin at the linear model; their random numbers part them."""
    states = config.latent_dim
    outputs = data.y.shape[-1]
    length = data.y.shape[1]
    padded = np.stack(
        [np.pad(path, ((0, length - len(path)), (0, 0)), mode="edge") for path in paths]
    )
    one = Chain(
        path=jnp.asarray(padded),
        weights=jnp.zeros((states, structure.size)),
        process=config.process_std**2 * jnp.eye(states),
        output_std=jnp.full(outputs, config.output_std),
        hyper=data.hyper_mean,
        log_likelihood=jnp.asarray(0.0),
    )
    return jax.tree.map(lambda array: jnp.stack([array] * config.chains), one)


@partial(jax.jit, static_argnames=("particles",))
def _first_states(
    draws: Draws, structure: Structure, u: Array, y: Array, key: PRNGKeyArray, particles: int
) -> Array:
    """x_1 given the first outputs, one for each model, by a particle filter over the warm-up."""

    def one(draw: Draws, own: PRNGKeyArray) -> Array:
        step_mean, steps = structure.along(draw.weights, u)
        return sample_path(
            step_mean,
            steps,
            y,
            noise=noise_of(draw.process, draw.output_std),
            particles=particles,
            key=own,
        )[0][0]

    return jax.vmap(one)(draws, jax.random.split(key, len(draws.weights)))


@jax.jit
def _free_runs(
    draws: Draws, structure: Structure, x1: Array, u: Array, key: PRNGKeyArray
) -> tuple[Array, Array]:
    """States (S, T, Dx) and drawn measurements (S, T, Dy), process noise included."""
    key_process, key_sensor = jax.random.split(key)
    count, states = x1.shape
    length = len(u)
    outputs = draws.output_std.shape[1]
    eps = jax.random.normal(key_process, (length, count, states))
    w = jnp.einsum("sde,tse->tsd", jnp.linalg.cholesky(draws.process), eps)

    def step(x: Array, now: tuple) -> tuple[Array, Array]:
        u_t, w_t = now
        # A batched product is far slower here.
        f = jnp.sum(draws.weights * structure.features(x, u_t)[:, None], axis=2)
        return structure.linear(x, u_t) + f + w_t, x

    x = jnp.swapaxes(jax.lax.scan(step, x1, (u, w))[1], 0, 1)
    noise = draws.output_std[:, None] * jax.random.normal(key_sensor, (count, length, outputs))
    return x, x[..., :outputs] + noise
