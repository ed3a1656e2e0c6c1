"""Reduced-rank Gaussian process: sines on a box, weighted by the kernel's spectral density.

On the box [-L_1, L_1] x .. x [-L_D, L_D] with zero boundary values the eigenfunctions of the
Laplace operator are

    phi_j(x) = prod_d  L_d^(-1/2) sin(omega_jd (x_d + L_d)),
    omega_jd = pi j_d / (2 L_d),   j_d = 1, 2, ..

and a stationary kernel with spectral density S is k(a, b) ~ sum_j S(omega_j) phi_j(a) phi_j(b) away
from the boundary. So f = sum_j w_j phi_j with independent w_j ~ N(0, S(omega_j)) is a draw from the
Gaussian process (Solin and Sarkka 2014).
"""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class BoxBasis(eqx.Module):
    """`count` eigenfunctions in each dimension of the box, and all their products.

    A box without dimensions gives the constant one. Beyond the box the functions go on
    periodically, so an expansion stays bounded everywhere.
    """

    half_width: Float[Array, " D"]
    count: int = eqx.field(static=True)

    @property
    def size(self) -> int:
        return self.count ** len(self.half_width)

    def frequencies(self) -> Float[Array, "M D"]:
        """omega of each product, the last dimension running fastest."""
        index = np.array(
            list(itertools.product(range(1, self.count + 1), repeat=len(self.half_width)))
        )
        return jnp.pi * jnp.asarray(index) / (2.0 * self.half_width)

    def __call__(self, x: Float[Array, "... D"]) -> Float[Array, "... M"]:
        """phi_j(x) for all products j, in the order of `frequencies`."""
        product = jnp.ones((*x.shape[:-1], 1))
        each = self._along_axes(x)
        for d in range(len(self.half_width)):
            product = outer(product, each[..., d, :])
        return product

    def _along_axes(self, x: Float[Array, "... D"]) -> Float[Array, "... D count"]:
        """The functions of each dimension.

        By sin (j + 1) a = 2 cos a sin j a - sin (j - 1) a, because sines are what costs here.
        """
        angle = jnp.pi * (x + self.half_width) / (2.0 * self.half_width)
        twice_cos = 2.0 * jnp.cos(angle)
        rows = [jnp.zeros_like(angle), jnp.sin(angle) / jnp.sqrt(self.half_width)]
        for _ in range(self.count - 1):
            rows.append(twice_cos * rows[-1] - rows[-2])
        return jnp.stack(rows[1:], axis=-1)


def outer(a: Float[Array, "... M"], b: Float[Array, "... K"]) -> Float[Array, "... MK"]:
    """All products of two sets of features, the second running fastest."""
    return (a[..., :, None] * b[..., None, :]).reshape(
        *jnp.broadcast_shapes(a.shape[:-1], b.shape[:-1]), -1
    )


def squared_exponential_density(
    frequencies: Float[Array, "M D"], signal_std: Float[Array, ""], lengthscale: Float[Array, " D"]
) -> Float[Array, " M"]:
    """The Fourier transform of the squared exponential.

    S(omega) = s^2 prod_d sqrt(2 pi) l_d exp(-(l_d omega_d)^2 / 2).
    """
    scaled = lengthscale * frequencies
    volume = jnp.prod(jnp.sqrt(2.0 * jnp.pi) * lengthscale)
    return signal_std**2 * volume * jnp.exp(-0.5 * jnp.sum(scaled**2, axis=-1))
