"""Sparse regression after Snelson and Ghahramani (FITC).

The prior is exact at the inducing inputs and has independent errors elsewhere. With Q = K_fz
K_zz^-1 K_zf the prior of the N function values is N(0, Q + diag(K_ff - Q)), so that the data have
the covariance Q + diag(lambda), lambda = diag(K_ff - Q) + noise^2. All costs are N P^2.
"""

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from prssm.gp.conditional import Conditional
from prssm.gp.kernels import Kernel
from prssm.gp.linalg import cholesky, log_det


class _Factors(eqx.Module):
    """What evidence and prediction share, with V = L^-1 K_zf."""

    prior: Float[Array, "P P"]  # L, the factor of K_zz
    posterior: Float[Array, "P P"]  # the factor of B = I + V diag(1/lambda) V'
    variance: Float[Array, " N"]  # lambda
    projected: Float[Array, " P"]  # chol(B)^-1 V (y/lambda)


class FITC(eqx.Module):
    """One scalar function with a zero-mean prior, seen through noise of constant deviation."""

    kernel: Kernel
    zeta: Float[Array, "P Din"]  # inducing inputs
    log_noise_std: Float[Array, ""]

    def log_marginal(self, x: Float[Array, "N Din"], y: Float[Array, " N"]) -> Float[Array, ""]:
        """log N(y; 0, Q + diag(lambda)), by the matrix inversion and determinant lemmas."""
        f = self._factors(x, y)
        mahalanobis = jnp.sum(y**2 / f.variance) - jnp.sum(f.projected**2)
        log_volume = jnp.sum(jnp.log(f.variance)) + log_det(f.posterior)
        return -0.5 * (mahalanobis + log_volume + y.shape[0] * jnp.log(2.0 * jnp.pi))

    def condition(self, x: Float[Array, "N Din"], y: Float[Array, " N"]) -> Conditional:
        """The posterior: weights L^-T B^-1 V (y/lambda), quadratic L^-T (I - B^-1) L^-1."""
        f = self._factors(x, y)
        eye = jnp.eye(self.zeta.shape[0], dtype=self.zeta.dtype)
        unwhiten = solve_triangular(f.prior, eye, lower=True)  # L^-1
        half = solve_triangular(f.posterior, unwhiten, lower=True)  # chol(B)^-1 L^-1
        return Conditional(
            self.kernel,
            self.zeta,
            half.T @ f.projected,
            quadratic=unwhiten.T @ unwhiten - half.T @ half,
        )

    def _factors(self, x: Float[Array, "N Din"], y: Float[Array, " N"]) -> _Factors:
        prior = cholesky(self.kernel.gram(self.zeta))
        white = solve_triangular(prior, self.kernel.cross(self.zeta, x.T), lower=True)
        unexplained = jnp.maximum(self.kernel.diag(x.T) - jnp.sum(white**2, axis=0), 0.0)
        variance = unexplained + jnp.exp(2.0 * self.log_noise_std)
        inner = jnp.eye(self.zeta.shape[0], dtype=x.dtype) + (white / variance) @ white.T
        posterior = jnp.linalg.cholesky(inner)  # its smallest eigenvalue is at least 1: no jitter
        return _Factors(
            prior,
            posterior,
            variance,
            projected=solve_triangular(posterior, white @ (y / variance), lower=True),
        )
