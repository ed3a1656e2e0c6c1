"""A model whose sensors are noisier than those it was trained on."""

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array, Belief, Local, StateSpace


class Noisier(StateSpace):
    """Another space with more white noise of variance `more` (Dy,) on its outputs.

    A model of low-passed outputs is filtered so: what the low-pass took out is noise to it.
    """

    def __init__(self, space: StateSpace, more: Float[Array, " Dy"]) -> None:
        self._space = space
        self._more = np.diag(more)
        self.members = space.members
        self.state_dim = space.state_dim
        self.output_dim = space.output_dim
        self.lags = space.lags
        self.window = space.window

    @property
    def shown(self) -> int:
        return self._space.shown

    def first(self) -> Belief:
        return self._space.first()

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        return self._space.step(x, u)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        found = self._space.output(x, u)
        return found._replace(noise=found.noise + self._more)

    def recognised(
        self, u: Float[Array, "L Du"], y: Float[Array, "L Dy"]
    ) -> tuple[int, Belief] | None:
        return self._space.recognised(u, y)
