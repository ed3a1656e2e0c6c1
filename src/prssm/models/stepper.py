"""One step at a time, for a controller that asks many times: factored and compiled once, then some microseconds a call."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.models.elbo import StateSpaceModel


class Stepper:
    """What follows states (Dx, B) under inputs (Du, B), in the model's own units: a forecast to plan with.

    The parameters are constants of the compiled step, so a call carries the states and inputs only. It compiles anew
    for another number of states; the first call of each kind is the slow one.
    """

    def __init__(self, model: StateSpaceModel) -> None:
        dx, _, din = model.transition.gp.zeta.shape
        self._sizes = {"x": dx, "u": din - dx}
        with double_precision():
            dynamics = jax.jit(lambda transition: transition.condition())(model.transition)

        def step(x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> tuple[Array, ...]:
            mean, variance = dynamics(x, u)
            return mean, jnp.sqrt(variance), model.emission(x[None], u[None])[0]

        self._step = jax.jit(step)

    def __call__(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and standard deviation of the next states, and the outputs (Dy, B) of the present ones."""
        for name, array in (("x", x), ("u", u)):
            if array.ndim != 2 or array.shape[0] != self._sizes[name] or array.shape[1] != x.shape[1]:
                raise DataError(f"step: {name}: expected shape ({self._sizes[name]}, {x.shape[-1]}), got {array.shape}")
        with double_precision():
            mean, std, output = self._step(x, u)
        return np.asarray(mean), np.asarray(std), np.asarray(output)
