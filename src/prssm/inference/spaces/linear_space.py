"""A linear system with noises as the filters see it; the sensors' noise may have a memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from prssm.inference.spaces.coloured import Coloured, block_diagonal
from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace
from prssm.linear.system import LinearSystem


@dataclass(frozen=True, eq=False)
class Noises:
    """Of the process (Dx, Dx), and of the sensors (Dy,): white, and coloured with its poles."""

    process: Float[Array, "Dx Dx"]
    output_std: Float[Array, " Dy"]
    coloured_std: Float[Array, " Dy"]
    memory: Float[Array, " Dy"]
    second: Float[Array, " Dy"]


class LinearSpace(StateSpace):
    """x' = A x + B u + w,  y = C x + D u + offset + d + e; the coloured noise d is a state.

    The members are the same system with different noises.
    """

    def __init__(
        self,
        system: LinearSystem,
        noises: Sequence[Noises],
        *,
        first_mean: Float[Array, " Dx"],
        first_covariance: Float[Array, "Dx Dx"],
    ) -> None:
        self._system = system
        self.members = len(noises)
        self.output_dim = len(system.C)
        colour = Coloured(
            *(
                np.stack([getattr(one, name) for one in noises])
                for name in ("coloured_std", "memory", "second")
            )
        )
        self.state_dim = system.order + colour.size
        each = (self.members, 1, 1)
        self._A = block_diagonal(np.tile(system.A, each), colour.A)[:, None]
        self._Q = block_diagonal(np.stack([one.process for one in noises]), colour.Q)[:, None]
        R = [np.diag(one.output_std**2 + LEAST_OUTPUT_VAR) for one in noises]
        self._R = np.stack(R)[:, None]
        still = np.zeros((colour.size, system.B.shape[1]))
        self._B = np.concatenate([system.B, still])
        self._C = np.concatenate([system.C, colour.C], axis=1)
        mean = np.append(first_mean, np.zeros(colour.size))
        spread = block_diagonal(np.tile(first_covariance, each), colour.first)
        self._first = Belief(np.tile(mean, each), spread[:, None])

    @property
    def shown(self) -> int:
        return self._system.order

    def first(self) -> Belief:
        return self._first

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        value = (self._A @ x[..., None])[..., 0] + u @ self._B.T
        return Local(value, self._A, self._Q)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        value = x @ self._C.T + (u @ self._system.D.T + self._system.offset)
        return Local(value, self._C[None, None], self._R)
