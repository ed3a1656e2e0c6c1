"""What a method says of itself so that its free runs become pure functions of JAX.

A method writes one `Member` (a step of one system) and one `Parts` (its members, its first state),
and returns a `JaxModel` of them from `_jax_model`. Everything here is in scaled units.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray


class Member(eqx.Module):
    """One system and its trajectories, a column each."""

    @abstractmethod
    def __call__(
        self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]
    ) -> tuple[Float[Array, "Dx B"], Float[Array, "Dx B"], Float[Array, "Dy B"]]:
        """Mean and standard deviation of the next states, and the outputs of the present ones."""

    @abstractmethod
    def drawn(self, function: Float[Array, "Dx P B"]) -> "Member":
        """The same with one function for each trajectory, by standard normal numbers."""


class Parts(eqx.Module):
    """How a method's parameters become members; parameters lead with the number of members."""

    @abstractmethod
    def members(self, parameters: Any) -> Member:
        """The members, stacked."""

    @abstractmethod
    def function_shape(self, parameters: Any) -> tuple[int, ...]:
        """(M, Dx, P): the standard normal numbers that draw one function; P may be 0."""

    @abstractmethod
    def first_state(
        self, parameters: Any, y: Float[Array, "L Dy"] | None, u: Float[Array, "L Du"] | None
    ) -> tuple[Float[Array, "M Dx"], Float[Array, "M Dx K"]]:
        """Mean and covariance factor of every member's first state, from samples or from none."""

    @abstractmethod
    def noise_var(self, parameters: Any) -> Float[Array, " Dy"]:
        """Variance of a measurement around the outputs."""


class LinearMember(Member):
    """x' = A x + B u, y = C x + D u + offset."""

    A: Float[AnyArray, "Dx Dx"]
    B: Float[AnyArray, "Dx Du"]
    C: Float[AnyArray, "Dy Dx"]
    D: Float[AnyArray, "Dy Du"]
    offset: Float[AnyArray, " Dy"]

    def __call__(
        self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]
    ) -> tuple[Float[Array, "Dx B"], Float[Array, "Dx B"], Float[Array, "Dy B"]]:
        following = jnp.matmul(self.A, x) + jnp.matmul(self.B, u)
        seen = jnp.matmul(self.C, x) + jnp.matmul(self.D, u) + self.offset[:, None]
        return following, jnp.zeros_like(following), seen

    def drawn(self, function: Float[Array, "Dx P B"]) -> "LinearMember":
        return self  # its parameters are taken as known
