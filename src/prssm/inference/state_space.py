"""What a filter needs to know of a model: one step, one output, and where the state may begin.

Several models, the members of a mixture, are filtered at once: all arrays lead with the members
(M), then with a batch of states (B). The notation is that of the textbooks,

    x_{t+1} = f(x_t, u_t) + w_t,  w ~ N(0, Q),        y_t = g(x_t, u_t) + e_t,  e ~ N(0, R),

in the units of the model, which are scaled ones.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Array = np.ndarray
# Of a sensor in scaled units: one without any noise keeps a regular problem.
LEAST_OUTPUT_VAR = 1e-12


class Belief(NamedTuple):
    """What is known of the state: a Gaussian for every member and place of the batch."""

    mean: Float[Array, "M B Dx"]
    covariance: Float[Array, "M B Dx Dx"]


class Local(NamedTuple):
    """A function near a state: its value, its Jacobian, and the covariance of the noise added."""

    value: Float[Array, "M B D"]
    jacobian: Float[Array, "M B D Dx"]
    noise: Float[Array, "M B D D"]


class StateSpace(ABC):
    """A model as the filters see it; subclasses give `first`, `step` and `output`.

    `lags` is how many inputs a step reads: then `u` is the window of the last inputs, newest first.
    `shown` is how many first entries of the state are worth showing to a user: a state that holds
    the sensors' noise ends with it.
    """

    members: int
    state_dim: int
    output_dim: int
    lags: int = 1
    window: int = 0

    @property
    def shown(self) -> int:
        return self.state_dim

    @property
    def first_log_weight(self) -> Float[Array, " M"]:
        """Logarithms of the members' weights before anything was measured.

        They are equal. Override it where some are to be followed, but not to be heard: -inf.
        """
        return np.full(self.members, -np.log(self.members))

    @abstractmethod
    def first(self) -> Belief:
        """The state at the first sample before anything was measured, with a batch of one."""

    @abstractmethod
    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        """f, its Jacobian and Q."""

    @abstractmethod
    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        """g, its Jacobian and R."""

    def recognised(
        self, u: Float[Array, "L Du"], y: Float[Array, "L Dy"]
    ) -> tuple[int, Belief] | None:
        """A better start, once the first `window` samples are known.

        The row it belongs to and the state there, from which a filter begins anew. Override it
        where a model has one.
        """
        return None


def windows(u: Float[Array, "T Du"], lags: int) -> Float[Array, "T lags*Du"]:
    """For every row the last `lags` inputs, newest first; before the first row it is repeated."""
    if lags == 1:
        return u
    padded = np.concatenate([np.repeat(u[:1], lags - 1, axis=0), u])
    return np.concatenate([padded[lags - 1 - k : len(padded) - k] for k in range(lags)], axis=1)


def symmetric(matrix: Float[Array, "*rest D D"]) -> Float[Array, "*rest D D"]:
    """Without the asymmetry that rounding leaves."""
    return 0.5 * (matrix + np.swapaxes(matrix, -1, -2))


def root(covariance: Float[Array, "*rest D D"]) -> Float[Array, "*rest D D"]:
    """A factor F with F F' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(symmetric(covariance))
    return vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
