"""The variational sparse GP: a function known through q(z) at its inducing inputs.

z is the deviation of the function from its prior mean, so p(z) = N(0, K) and z = 0 is the prior
mean itself. With K = L L' and W = L^-1, v = W z is white under the prior. Whatever the parameters
of q, it is used as q(v) = N(m, V V') with V lower triangular. With k = k(zeta, x) and a = W k, a
function value has

    mean = m'a,    variance = (k_xx - a'a) + |V'a|^2:

what the inducing points cannot say of f(x), plus what is not known of them. Every entry of a, m and
V is of order one however ill-conditioned K is, which is what makes single precision safe.

Many functions at once are one tree whose arrays lead with their number. A kernel and inducing
inputs that all of them share lead with one instead.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.gp.kernels import Kernel
from prssm.gp.linalg import whitener


class Inducing(eqx.Module):
    """The distribution q(z) of the inducing outputs."""

    mean: eqx.AbstractVar[Float[AnyArray, " P"]]

    @abstractmethod
    def whitened(
        self, white: Float[Array, "P P"]
    ) -> tuple[Float[Array, " P"], Float[Array, "P P"]]:
        """m and V of q(v) = N(m, V V'), v = W z."""


class DiagonalInducing(Inducing):
    """q(z) = N(mean, diag(std^2)): the paper's."""

    mean: Float[AnyArray, " P"]
    log_std: Float[AnyArray, " P"]

    def whitened(
        self, white: Float[Array, "P P"]
    ) -> tuple[Float[Array, " P"], Float[Array, "P P"]]:
        return white @ self.mean, white * jnp.exp(self.log_std)


class WhitenedInducing(Inducing):
    """q(v) = N(mean, V V') with any covariance.

    The diagonal of `factor` holds the logarithm of V's.
    """

    mean: Float[AnyArray, " P"]
    factor: Float[AnyArray, "P P"]

    def whitened(
        self, white: Float[Array, "P P"]
    ) -> tuple[Float[Array, " P"], Float[Array, "P P"]]:
        diagonal = jnp.diag(jnp.exp(jnp.diagonal(self.factor)))
        return jnp.asarray(self.mean), jnp.tril(self.factor, -1) + diagonal


class Posterior(eqx.Module):
    """All that a prediction needs and that no query point changes.

    `mean` may have a column for each query point: then each column is one draw of v, and `spread`
    is None.
    """

    kernel: Kernel
    zeta: Float[AnyArray, "P Din"]
    white: Float[Array, "P P"]  # W, lower triangular
    mean: Float[Array, " P"] | Float[Array, "P B"]
    spread: Float[Array, "P P"] | None  # V, lower triangular

    def __call__(self, xu: Float[Array, "Din B"]) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
        """Mean and variance of the deviation f - m at the points `xu`."""
        a = self.white @ self.kernel.cross(self.zeta, xu)
        mean = self.mean @ a if self.mean.ndim == 1 else jnp.sum(self.mean * a, axis=0)
        variance = jnp.maximum(self.kernel.diag(xu) - jnp.sum(a**2, axis=0), 0.0)
        if self.spread is not None:
            variance += jnp.sum((self.spread.T @ a) ** 2, axis=0)
        return mean, variance

    def drawn(self, noise: Float[Array, "P B"]) -> "Posterior":
        """One draw v = m + V noise of the inducing outputs for each column of `noise`.

        Each draw is kept for a whole trajectory.
        """
        return Posterior(
            self.kernel,
            self.zeta,
            self.white,
            mean=self.mean[:, None] + self._known_spread() @ noise,
            spread=None,
        )

    def kl(self) -> Float[Array, ""]:
        """KL(q(v) || N(0, I)), which is KL(q(z) || p(z))."""
        spread = self._known_spread()
        # One pass over the matrix; its diagonal taken out of it would come back by a scatter.
        diagonal = jnp.where(np.eye(len(spread), dtype=bool), spread, 1.0)
        from_spread = jnp.sum(spread**2 - 2.0 * jnp.log(diagonal))
        return 0.5 * (from_spread + jnp.sum(self.mean**2) - len(self.mean))

    def _known_spread(self) -> Float[Array, "P P"]:
        if self.spread is None:
            raise ValueError("expected q(v) with a covariance, got one draw of v")
        return self.spread


class SparseGP(eqx.Module):
    """One scalar function with a Gaussian-process prior."""

    kernel: Kernel
    zeta: Float[AnyArray, "P Din"]  # inducing inputs
    inducing: Inducing

    def condition(self) -> Posterior:
        """Marginalise z ~ q(z) out of p(f | z)."""
        white = white_of(self.kernel, self.zeta)
        mean, spread = self.inducing.whitened(white)
        return Posterior(self.kernel, self.zeta, white, mean=mean, spread=spread)


def white_of(kernel: Kernel, zeta: Float[AnyArray, "P Din"]) -> Float[Array, "P P"]:
    """W of these inducing inputs."""
    return whitener(kernel.gram(zeta))


Whiten = Callable[[Any, AnyArray], Array]
"""(kernel, inducing inputs) -> W, as `white_of`."""


def condition_all(gps: SparseGP, whiten: Whiten = white_of) -> Posterior:
    """`condition` for many GPs; what they share is factored once and stays shared.

    `whiten` is another way to do what `white_of` does.
    """
    white = jax.vmap(whiten)(gps.kernel, gps.zeta)
    mean, spread = jax.vmap(lambda inducing, white: inducing.whitened(white))(
        gps.inducing, _for_each(white, len(gps.inducing.mean))
    )
    return Posterior(gps.kernel, gps.zeta, white, mean=mean, spread=spread)


def unshared(gps: Posterior) -> Posterior:
    """The same GPs, each with its own copy of what they share, if anything."""
    if len(gps.zeta) == len(gps.mean):
        return gps
    kernel, zeta, white = (
        _for_each(part, len(gps.mean)) for part in (gps.kernel, gps.zeta, gps.white)
    )
    return Posterior(kernel, zeta, white, mean=gps.mean, spread=gps.spread)


def _for_each(shared: Any, count: int) -> Any:
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape[1:])), shared)
