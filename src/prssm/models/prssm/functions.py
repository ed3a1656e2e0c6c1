"""A fitted PR-SSM as pure functions of JAX: its members, its first states, its random numbers."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.data.scaling import Scaler
from prssm.dynamics.transition import Dynamics
from prssm.gp.linalg import one_by_one
from prssm.models.functions.jax_model import Draws, JaxModel, Parameters, Scaling
from prssm.models.functions.parts import Member, Parts
from prssm.models.prssm import free_run
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import Emission
from prssm.models.prssm.mixture import Mixture
from prssm.prediction.paired_draws import paired_normal
from prssm.prediction.seen import Seen


class GPMember(Member):
    """One trained model: its transition, a function for each trajectory, and its emission."""

    dynamics: Dynamics
    emission: Emission

    def __call__(
        self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]
    ) -> tuple[Float[Array, "Dx B"], Float[Array, "Dx B"], Float[Array, "Dy B"]]:
        mean, variance = self.dynamics(x, u)
        return mean, jnp.sqrt(variance), self.emission(x[None], u[None])[0]

    def drawn(self, function: Float[Array, "Dx P B"]) -> "GPMember":
        return GPMember(self.dynamics.drawn(function), self.emission)


class MixtureParts(Parts):
    """The members of a mixture; its parameters are a `StateSpaceModel` that leads with them."""

    def members(self, parameters: StateSpaceModel) -> GPMember:
        def member(model: StateSpaceModel) -> GPMember:
            return GPMember(model.transition.condition(), model.emission)

        return one_by_one(member, (parameters,))

    def function_shape(self, parameters: StateSpaceModel) -> tuple[int, ...]:
        return parameters.transition.gp.inducing.mean.shape

    def first_state(
        self,
        parameters: StateSpaceModel,
        y: Float[Array, "L Dy"] | None,
        u: Float[Array, "L Du"] | None,
    ) -> tuple[Float[Array, "M Dx"], Float[Array, "M Dx Dx"]]:
        if parameters.recognition is None or y is None or u is None:
            means = log_stds = jnp.zeros(parameters.transition.log_process_std.shape)
        else:
            means, log_stds = jax.vmap(lambda one: one(y, u))(parameters.recognition)
        return means, jax.vmap(jnp.diag)(jnp.exp(log_stds))

    def noise_var(self, parameters: StateSpaceModel) -> Float[Array, " Dy"]:
        return jnp.exp(2.0 * parameters.log_output_std).mean(axis=0)


def jax_model(
    mixture: Mixture,
    scaler: Scaler,
    calibration: Calibration,
    *,
    stride: int,
    samples: int,
    seed: int,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    dt: float | None,
    seen: Seen | None,
) -> JaxModel:
    """The functions of a fitted mixture; `samples=0` is one run a member without noise."""
    models = jax.tree.map(np.asarray, mixture.models)
    return JaxModel(
        MixtureParts(),
        Parameters(models, Scaling.of(scaler), calibration.factor),
        _draws(models, mixture.draws == "trajectory", samples, seed=seed),
        window=mixture.window,
        stride=stride,
        input_names=names[0],
        output_names=names[1],
        dt=dt,
        seen=seen,
    )


def _draws(models: StateSpaceModel, functions: bool, samples: int, seed: int) -> Draws:
    """The random numbers that `Mixture.run` takes, in its order, for the same count and seed."""
    members, dx, points = models.transition.gp.inducing.mean.shape
    if samples == 0:
        return Draws(
            np.zeros((members, dx, 1)),
            np.zeros((members, dx, points, 1)),
            lambda steps: np.zeros((steps, members, dx, 1)),
        )
    share = -(-samples // members)

    def generators() -> list[np.random.Generator]:
        return [np.random.default_rng([seed, index]) for index in range(members)]

    def start(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        first = paired_normal(rng, (dx, share))
        return first, paired_normal(rng, (dx, points, share)) if functions else None

    def noise(steps: int) -> np.ndarray:
        drawn = []
        for rng in generators():
            start(rng)
            drawn.append(_blocks(rng, steps, (dx, share)))
        return np.stack(drawn, axis=1)

    firsts, drawn = zip(*(start(rng) for rng in generators()), strict=True)
    return Draws(np.stack(firsts), np.stack(drawn) if functions else None, noise)


def _blocks(rng: np.random.Generator, steps: int, shape: tuple[int, int]) -> np.ndarray:
    """The numbers of `FreeRuns.member`.

    A block repeats the last state of the one before it, and its last number is not used.
    """
    parts = []
    for begin in range(0, steps, free_run.BLOCK):
        count = min(begin + free_run.BLOCK, steps) - max(begin - 1, 0)
        parts.append(paired_normal(rng, (count, *shape)))
    return np.concatenate([*(part[:-1] for part in parts), parts[-1][-1:]])
