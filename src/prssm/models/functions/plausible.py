"""Systems that the data allow: each member's mean, and functions drawn from its posterior.

`Plausible.of(functions, samples, seed)` draws them; `at` evaluates all of them, with slopes, where
it is told. Everything is in scaled units.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.precision import double_precision
from prssm.models.functions.jax_model import JaxModel, Parameters
from prssm.models.functions.parts import Member, Parts

# Points that are evaluated at once. One number serves all who ask, be it for one point or for
# hundreds: every other would be compiled by itself, which takes longer than all evaluations.
_BLOCK = 4


class Slopes(NamedTuple):
    """Next states and outputs of G points for each of B systems of M members, and derivatives.

    The last axis of a derivative is what it is taken by: states first, then inputs.
    """

    following: Float[np.ndarray, "M G B Dx"]
    output: Float[np.ndarray, "M G B Dy"]
    by_following: Float[np.ndarray, "M G B Dx Din"]
    by_output: Float[np.ndarray, "M G B Dy Din"]


@dataclass(frozen=True, eq=False)
class Plausible:
    """M members with B systems each; system 0 of a member is its mean."""

    member: Member
    shape: tuple[int, int, int]  # M, B, Dx

    @classmethod
    def of(cls, functions: JaxModel, samples: int, seed: int = 0) -> "Plausible":
        """At least `samples` drawn systems in all, beside the members' means."""
        members, states, points = functions.parts.function_shape(functions.parameters.model)
        drawn = -(-samples // members) if points else 0
        noise = np.random.default_rng(seed).standard_normal((members, states, points, 1 + drawn))
        noise[..., 0] = 0.0
        with double_precision():
            member = _members(functions.parts, functions.parameters, noise)
        return cls(member, (members, 1 + drawn, states))

    def at(self, x: Float[np.ndarray, "M G B Dx"], u: Float[np.ndarray, "M G B Du"]) -> Slopes:
        """All systems at their own points."""
        points = x.shape[1]
        spare = [(0, 0), (0, -points % _BLOCK), (0, 0), (0, 0)]
        states = np.swapaxes(np.pad(x, spare, mode="edge"), 2, 3)
        inputs = np.swapaxes(np.pad(u, spare, mode="edge"), 2, 3)
        with double_precision():
            found = [
                _slopes(self.member, states[:, i : i + _BLOCK], inputs[:, i : i + _BLOCK])
                for i in range(0, points, _BLOCK)
            ]
        parts = zip(*found, strict=True)
        return Slopes(*(np.concatenate(part, axis=1)[:, :points] for part in parts))


@jax.jit
def _members(parts: Parts, parameters: Parameters, noise: Array) -> Member:
    members = parts.members(parameters.model)
    return jax.vmap(lambda member, draws: member.drawn(draws))(members, noise)


@jax.jit
def _slopes(
    member: Member, x: Float[Array, "M G Dx B"], u: Float[Array, "M G Du B"]
) -> tuple[Array, ...]:
    """One tangent after the other: a column depends on no other column."""

    def point(one: Member, x: Array, u: Array) -> tuple[Array, ...]:
        def step(xu: Array) -> tuple[Array, Array]:
            mean, _, output = one(xu[: len(x)], xu[len(x) :])
            return mean, output

        def slope(direction: Array) -> tuple[Array, Array]:
            return jax.jvp(step, (xu,), (jnp.broadcast_to(direction[:, None], xu.shape),))[1]

        xu = jnp.concatenate([x, u])
        following, output = step(xu)
        by_following, by_output = jax.vmap(slope)(jnp.eye(len(xu)))  # (Din, D, B)
        return following.T, output.T, by_following.T, by_output.T

    return jax.vmap(jax.vmap(point, in_axes=(None, 0, 0)))(member, x, u)
