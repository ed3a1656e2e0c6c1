"""The sizes of a call of the CUDA library, and of what its kernels hand over to each other."""

from typing import NamedTuple

from prssm.dynamics.engines.arrays import Arrays


class Shape(NamedTuple):
    """Sizes of a call, in the order in which the library reads them."""

    dx: int
    du: int
    points: int
    steps: int
    batch: int
    spread: int
    own_mean: int

    @classmethod
    def of(cls, arrays: Arrays) -> "Shape":
        (steps, dx, batch) = arrays.eps.shape
        (_, points, din) = arrays.zeta.shape
        return cls(
            dx,
            din - dx,
            points,
            steps=steps,
            batch=batch,
            spread=int(arrays.spread.size > 0),
            own_mean=int(arrays.mean.ndim == 3),
        )

    @property
    def din(self) -> int:
        return self.dx + self.du

    @property
    def tiles(self) -> int:
        """Matrices are padded to multiples of four."""
        return -(-self.points // 4)

    @property
    def quads(self) -> int:
        """Inputs and a one, in multiples of four."""
        return self.din // 4 + 1

    @property
    def products(self) -> tuple[int, ...]:
        """Tiles of four by four sums, as `Products` in gradients.h."""
        triangle = self.tiles * (self.tiles + 1) // 2
        return (
            triangle if self.spread else 0,
            0 if self.own_mean else self.tiles,
            self.quads,
            triangle,
            self.tiles * self.quads,
        )

    @property
    def sums(self) -> int:
        """How many sums a slice leaves for each latent dimension."""
        return 16 * sum(self.products) + self.din + 2

    @property
    def record(self) -> int:
        """How many numbers the recursion reads of one latent dimension, as `Places` in arrays.h."""
        points = 4 * self.tiles
        columns = 4 * self.quads
        triangle = 8 * self.tiles * (self.tiles + 1)
        matrices = 2 * points * columns + (2 if self.spread else 1) * triangle
        vectors = points + columns + (0 if self.own_mean else points) + self.din
        return 4 * -(-(matrices + vectors + 3) // 4)
