"""A linear state-space model as pure functions of JAX.

Its band needs no random numbers: the first state's uncertainty is carried by two trajectories for
each of its directions, whose spread is exact because the system is linear.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.linear.first_state import InitialState
from prssm.linear.system import LinearSystem
from prssm.models.functions.jax_model import Draws
from prssm.models.functions.parts import LinearMember, Parts


class LinearParameters(eqx.Module):
    """The system, and its first state as an affine map of the first samples; one member leads."""

    system: LinearMember
    weight: Float[AnyArray, "1 Dx S"]
    bias: Float[AnyArray, "1 Dx"]
    factor: Float[AnyArray, "1 Dx Dx"]  # covariance factor of that estimate
    blind_mean: Float[AnyArray, "1 Dx"]  # and of the first state without samples
    blind_factor: Float[AnyArray, "1 Dx Dx"]
    error_std: Float[AnyArray, " Dy"]

    @classmethod
    def of(cls, system: LinearSystem, start: InitialState, window: int) -> "LinearParameters":
        weight, bias, factor = start.affine(system, window)
        matrices = (system.A, system.B, system.C, system.D, system.offset)
        return cls(
            LinearMember(*(np.asarray(matrix)[None] for matrix in matrices)),
            weight[None],
            bias[None],
            factor=factor[None],
            blind_mean=start.mean[None],
            blind_factor=start.factor[None],
            error_std=start.error_std,
        )


class LinearParts(Parts):
    """One member, whose parameters are `LinearParameters`."""

    def members(self, parameters: LinearParameters) -> LinearMember:
        return parameters.system

    def function_shape(self, parameters: LinearParameters) -> tuple[int, ...]:
        return (*parameters.bias.shape, 0)

    def first_state(
        self, parameters: LinearParameters, y: Any, u: Any
    ) -> tuple[Float[Array, "M Dx"], Float[Array, "M Dx Dx"]]:
        if y is None or u is None:
            return jnp.asarray(parameters.blind_mean), jnp.asarray(parameters.blind_factor)
        seen = jnp.concatenate([y.ravel(), u.ravel()])
        mean = jnp.matmul(parameters.weight, seen) + parameters.bias
        return mean, jnp.asarray(parameters.factor)

    def noise_var(self, parameters: LinearParameters) -> Float[Array, " Dy"]:
        return jnp.square(parameters.error_std)


def linear_draws(order: int, samples: int) -> Draws:
    """No trajectories beside the mean, or a pair along each direction of the first state."""
    if samples == 0:
        first = np.zeros((1, order, 1))
    else:
        reach = np.sqrt((2 * order - 1) / 2.0)  # the sample variance of the pairs is then one
        first = reach * np.concatenate([np.eye(order), -np.eye(order)], axis=1)[None]
    return Draws(first, None, lambda steps: np.zeros((steps, 1, order, first.shape[2])))
