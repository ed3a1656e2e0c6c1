"""How long and how fast: the step size and the regulariser's weight at each iteration."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


class Schedule(NamedTuple):
    """The step size falls along a cosine to `final_rate`; the regulariser comes in linearly.

    A tuple of numbers, so that another schedule needs no new compilation.
    """

    iterations: int
    learning_rate: float
    final_rate: float
    ramp: int = 0  # iterations until the regulariser has its full weight
    clip: float = np.inf  # largest norm of a gradient

    def rate(self, iteration: Array) -> Any:
        done = iteration / jnp.maximum(self.iterations, 1)
        return self.final_rate + 0.5 * (self.learning_rate - self.final_rate) * (
            1.0 + jnp.cos(jnp.pi * done)
        )

    def weight(self, iteration: Array) -> Any:
        return jnp.minimum(1.0, (iteration + 1.0) / jnp.maximum(self.ramp, 1))

    def shortened(self, iterations: int) -> "Schedule":
        """The same course in fewer iterations."""
        ramp = round(self.ramp * iterations / max(self.iterations, 1))
        return self._replace(iterations=iterations, ramp=ramp)
