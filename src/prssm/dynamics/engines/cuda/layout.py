"""How the CUDA kernels see the parameters, and what their sums say about the gradients."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

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


def laid_out(arrays: Arrays, shape: Shape) -> tuple[Array, ...]:
    """The parameters in the order of `Given` in arrays.h.

    Matrices are padded and laid out as `Matrix` and `Triangle` there.
    """
    points = 4 * shape.tiles
    columns = 4 * shape.quads
    scaled = arrays.zeta * arrays.precision[:, None, :]
    zeta = _by_columns(_padded(scaled, points, columns))
    twice_scaled = _by_columns(_padded(scaled * arrays.precision[:, None, :], points, columns))
    norm = _padded(0.5 * jnp.sum(scaled**2, axis=2), points)
    white = _triangle(_padded(arrays.white, points, points), upper=False)
    spread = arrays.spread
    if shape.spread:
        spread = _triangle(_padded(jnp.swapaxes(arrays.spread, 1, 2), points, points), upper=True)
    mean = arrays.mean if shape.own_mean else _padded(arrays.mean, points)
    scale = _padded(arrays.precision, columns)
    parts = (
        zeta,
        twice_scaled,
        norm,
        scale,
        white,
        spread,
        mean,
        arrays.weight,
        arrays.variance,
        arrays.process_var,
        arrays.bias,
    )
    return tuple(part.astype(arrays.eps.dtype) for part in parts)


def _padded(part: Array, *sizes: int) -> Array:
    return jnp.pad(
        part, [(0, 0), *((0, size - now) for size, now in zip(sizes, part.shape[1:], strict=True))]
    )


def _by_columns(matrices: Float[Array, "Dx rows columns"]) -> Float[Array, "Dx quads rows 4"]:
    """Four columns after the other, so that threads that take one row each read together."""
    dx, rows, columns = matrices.shape
    return matrices.reshape(dx, rows, columns // 4, 4).transpose(0, 2, 1, 3)


def _triangle(matrices: Float[Array, "Dx P P"], upper: bool) -> Float[Array, "Dx entries 4"]:
    """The same of triangular matrices, without the tiles of four by four that are all zero."""
    quad, row = np.indices((matrices.shape[1] // 4, matrices.shape[1]))
    kept = np.nonzero(row // 4 <= quad if upper else row // 4 >= quad)
    return _by_columns(matrices)[:, kept[0], kept[1]]


def parameter_gradients(
    arrays: Arrays, shape: Shape, sums: Float[Array, "Dx size"], g_own_mean: Array
) -> Arrays:
    """Gradients of the parameters from the kernels' sums over all points.

    docs/adjoint.md has the formulas.
    """
    dx = shape.dx
    points = shape.points
    din = shape.din
    tiles = sums[:, : -din - 2].reshape(dx, -1, 4, 4)
    squares = sums[:, -din - 2 : -2]
    spread, mean, affine, white, inputs = jnp.split(tiles, np.cumsum(shape.products)[:-1], axis=1)
    inputs = jnp.swapaxes(inputs.reshape(dx, shape.tiles, shape.quads, 4, 4), 2, 3)
    inputs = inputs.reshape(dx, 4 * shape.tiles, 4 * shape.quads)[:, :points]
    # Sums of w_p and of w_p xu_i.
    w = inputs[:, :, din, None]
    w_xu = inputs[:, :, :din]
    affine = affine[:, :, 0].reshape(dx, -1)
    zeta = arrays.zeta
    precision = arrays.precision
    g_process_var = sums[:, -2]
    g_unsaid = sums[:, -1]
    return arrays._replace(
        zeta=precision[:, None, :] ** 2 * (w_xu - zeta * w),
        precision=-precision * (jnp.sum(zeta**2 * w - 2.0 * zeta * w_xu, axis=1) + squares),
        variance=jnp.sum(w, axis=(1, 2)) / arrays.variance + g_unsaid,
        white=_lower(white, shape),
        spread=_lower(spread, shape) if shape.spread else arrays.spread,
        mean=g_own_mean if shape.own_mean else mean[..., 0].reshape(dx, -1)[:, :points],
        weight=affine[:, :din],
        bias=affine[:, din],
        process_var=g_process_var,
    )


def _lower(tiles: Float[Array, "Dx triangle 4 4"], shape: Shape) -> Float[Array, "Dx P P"]:
    """A lower triangular matrix from its tiles."""
    row, column = np.indices((shape.tiles, shape.tiles))
    square = tiles[:, np.where(column <= row, row * (row + 1) // 2 + column, 0)]
    full = jnp.swapaxes(square, 2, 3).reshape(shape.dx, 4 * shape.tiles, 4 * shape.tiles)
    return jnp.tril(full)[:, : shape.points, : shape.points]
