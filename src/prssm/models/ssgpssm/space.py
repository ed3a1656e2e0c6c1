"""Models from SS-GP-SSM's posterior as the filters see them: members of a mixture."""

import numpy as np
from jaxtyping import Float

from prssm.gp.spectral import BoxBasis
from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace
from prssm.models.ssgpssm.chain import Draws
from prssm.models.ssgpssm.sweep import Structure


class BasisSpace(StateSpace):
    """x' = F x + G u + A phi(x, u) + w, y = [I 0] x + e, with A, Q and R of each draw."""

    def __init__(self, structure: Structure, draws: Draws) -> None:
        weights = np.asarray(draws.weights, np.float64)
        self.members, self.state_dim, _ = weights.shape
        self.output_dim = draws.output_std.shape[1]
        self._F, self._G = (np.asarray(part, np.float64) for part in (structure.F, structure.G))
        self._x = Axes(structure.state_basis)
        self._u = Axes(structure.input_basis)
        shape = (self.members, self.state_dim, structure.state_basis.size, -1)
        self._weights = weights.reshape(shape)
        self._Q = np.asarray(draws.process, np.float64)[:, None]
        noise = np.asarray(draws.output_std, np.float64) ** 2 + LEAST_OUTPUT_VAR
        self._R = (noise[:, :, None] * np.eye(self.output_dim))[:, None]
        self._C = np.eye(self.output_dim, self.state_dim)[None, None]

    def first(self) -> Belief:
        """The prior of training: N(0, I)."""
        mean = np.zeros((self.members, 1, self.state_dim))
        return Belief(mean, np.tile(np.eye(self.state_dim), (self.members, 1, 1, 1)))

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        """The input's part is summed first: it is the same for every state of a row."""
        by_state = np.einsum("mdjk,bk->mbdj", self._weights, self._u.values(u))
        phi = self._x.values(x)
        value = x @ self._F.T + u @ self._G.T + np.einsum("mbdj,mbj->mbd", by_state, phi)
        slope = np.stack(
            [
                np.einsum("mbdj,mbj->mbd", by_state, self._x.values(x, by=axis))
                for axis in range(self.state_dim)
            ],
            axis=3,
        )
        return Local(value, self._F + slope, self._Q)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        return Local(x[:, :, : self.output_dim], self._C, self._R)


class Axes:
    """The functions of a `BoxBasis` and their derivatives, in NumPy."""

    def __init__(self, basis: BoxBasis) -> None:
        self._half = np.asarray(basis.half_width, np.float64)
        number = np.arange(1, basis.count + 1)
        self._omega = np.pi * number / (2.0 * self._half[:, None])

    def values(self, x: Float[Array, "*rest D"], by: int | None = None) -> Array:
        """phi_j(x) of all products; `by` is the coordinate that they are differentiated by."""
        product = np.ones((*x.shape[:-1], 1))
        for d, half in enumerate(self._half):
            angle = self._omega[d] * (x[..., d, None] + half)
            along = self._omega[d] * np.cos(angle) if d == by else np.sin(angle)
            both = product[..., :, None] * (along / np.sqrt(half))[..., None, :]
            product = both.reshape(*x.shape[:-1], -1)
        return product
