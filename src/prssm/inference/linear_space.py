"""A linear system with noises as the filters see it; the sensors' noise may have a memory."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace
from prssm.linear.system import LinearSystem


@dataclass(frozen=True, eq=False)
class Noises:
    """Of the process (Dx, Dx), and of the sensors (Dy,): white, and coloured with its memory."""

    process: Float[Array, "Dx Dx"]
    output_std: Float[Array, " Dy"]
    coloured_std: Float[Array, " Dy"]
    memory: Float[Array, " Dy"]


class LinearSpace(StateSpace):
    """x' = A x + B u + w,  y = C x + D u + offset + d + e; the coloured noise d is a state.

    Arrays lead with the members, which may differ in their noises alone.
    """

    def __init__(
        self,
        system: LinearSystem,
        noises: list[Noises],
        *,
        first_mean: Float[Array, " Dx"],
        first_covariance: Float[Array, "Dx Dx"],
    ) -> None:
        self._order = system.order
        self.members = len(noises)
        self.output_dim = len(system.C)
        self.state_dim = system.order + self.output_dim
        self._system = system
        self._first = first_mean, first_covariance
        self._noises = noises
        parts = [self._member(one) for one in noises]
        self._A, self._Q, self._R = (np.stack(part)[:, None] for part in zip(*parts, strict=True))
        self._B = np.concatenate([system.B, np.zeros((self.output_dim, system.B.shape[1]))])
        self._C = np.concatenate([system.C, np.eye(self.output_dim)], axis=1)

    @property
    def shown(self) -> int:
        return self._order

    def _member(self, noises: Noises) -> tuple[Array, Array, Array]:
        A = _block(self._system.A, np.diag(noises.memory))
        fresh = noises.coloured_std**2 * (1.0 - noises.memory**2)
        return (
            A,
            _block(noises.process, np.diag(fresh)),
            np.diag(noises.output_std**2 + LEAST_OUTPUT_VAR),
        )

    def with_noises(self, noises: list[Noises]) -> Self:
        """The same system with others."""
        mean, covariance = self._first
        return type(self)(self._system, noises, first_mean=mean, first_covariance=covariance)

    def first(self) -> Belief:
        mean, covariance = self._first
        mean = np.append(mean, np.zeros(self.output_dim))
        each = [_block(covariance, np.diag(one.coloured_std**2)) for one in self._noises]
        return Belief(np.tile(mean, (self.members, 1, 1)), np.stack(each)[:, None])

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        value = (self._A @ x[..., None])[..., 0] + u @ self._B.T
        return Local(value, self._A, self._Q)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        value = x @ self._C.T + (u @ self._system.D.T + self._system.offset)
        return Local(value, self._C[None, None], self._R)


def _block(upper: Array, lower: Array) -> Array:
    """A block-diagonal matrix of two."""
    whole = np.zeros((len(upper) + len(lower),) * 2)
    whole[: len(upper), : len(upper)] = upper
    whole[len(upper) :, len(upper) :] = lower
    return whole
