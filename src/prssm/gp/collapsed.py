"""Sparse regression with uncertain inputs and targets (Titsias; Damianou and Lawrence).

The inducing outputs are integrated out. Inputs are x_n ~ N(mean_n, diag(var_n)), targets t_n have
E[t_n] and E[t_n^2] independent of x_n, the noise has the deviation s. With psi1, psi2 = sum_n
psi2_n, K = L L' the prior covariance of the inducing outputs and N counted rows, the optimal q(z)
gives

    bound = -N/2 log(2 pi s^2) - sum_n E[t_n^2] / 2 s^2 - (N k_xx - tr K^-1 psi2) / 2 s^2
            - 1/2 log |I + L^-1 psi2 L^-T / s^2| + 1/2 |chol(..)^-1 L^-1 psi1' E[t] / s^2|^2.

With var = 0 and known targets it is the bound of Titsias (2009). All outputs share the kernel and
the inducing inputs.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential
from prssm.gp.linalg import cholesky, log_det, one_by_one
from prssm.gp.psi_statistics import psi1, summed_spread


class Pairs(NamedTuple):
    """Uncertain inputs with their uncertain targets.

    `counted` is 1 where a target counts and 0 where it is missing.
    """

    mean: Float[Array, "N Din"]
    var: Float[Array, "N Din"]
    target: Float[Array, "N D"]  # E[t], any number where missing
    target_var: Float[Array, "N D"]
    counted: Float[Array, "N D"]


class _Factors(eqx.Module):
    """One output's factors: B = I + L^-1 psi2 L^-T / s^2 and c = chol(B)^-1 L^-1 psi1' t / s^2."""

    white: Float[Array, "P P"]  # L^-1 psi2 L^-T
    posterior: Float[Array, "P P"]  # chol(B)
    projected: Float[Array, " P"]


class CollapsedGP(eqx.Module):
    """D functions with one zero-mean prior, each seen through noise of its own deviation."""

    kernel: SquaredExponential
    zeta: Float[Array, "P Din"]
    log_noise_std: Float[Array, " D"]

    def bound(self, pairs: Pairs) -> Float[Array, ""]:
        """Lower bound of the expected log evidence of all targets.

        The entropy of the targets is not in it.
        """
        _, factors = self._factors(pairs)
        noise_var = jnp.exp(2.0 * self.log_noise_std)
        rows = jnp.sum(pairs.counted, axis=0)
        squares = jnp.sum(pairs.counted * (pairs.target**2 + pairs.target_var), axis=0)
        explained = jnp.trace(factors.white, axis1=1, axis2=2)
        unexplained = rows * jnp.exp(2.0 * self.kernel.log_std) - explained
        fit = jnp.sum(factors.projected**2, axis=1) - jax.vmap(log_det)(factors.posterior)
        each = fit - (squares + unexplained) / noise_var - rows * jnp.log(2.0 * jnp.pi * noise_var)
        return 0.5 * jnp.sum(each)

    def condition(self, pairs: Pairs) -> Conditional:
        """The posterior with the optimal q(z); its arrays lead with the output axis."""
        prior, factors = self._factors(pairs)
        size = self.zeta.shape[0]
        outputs = self.log_noise_std.shape[0]
        unwhiten = solve_triangular(prior, jnp.eye(size, dtype=prior.dtype), lower=True)  # L^-1

        def one(part: _Factors) -> tuple[Array, Array]:
            half = solve_triangular(part.posterior, unwhiten, lower=True)  # chol(B)^-1 L^-1
            return half.T @ part.projected, unwhiten.T @ unwhiten - half.T @ half

        weights, quadratic = one_by_one(one, (factors,))
        kernel, zeta = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (outputs, *leaf.shape)), (self.kernel, self.zeta)
        )
        return Conditional(kernel, zeta, weights, quadratic=quadratic)

    def _factors(self, pairs: Pairs) -> tuple[Float[Array, "P P"], _Factors]:
        prior = cholesky(self.kernel.gram(self.zeta))
        # The expectations are L^-1 psi1'.
        expected = solve_triangular(
            prior, psi1(self.kernel, self.zeta, pairs.mean, var=pairs.var).T, lower=True
        )
        spread = summed_spread(
            self.kernel, self.zeta, pairs.mean, var=pairs.var, weights=pairs.counted
        )

        def one(spread_d: Array, target: Array, counted: Array, noise_var: Array) -> _Factors:
            half = solve_triangular(prior, spread_d, lower=True)
            white = (expected * counted) @ expected.T + solve_triangular(prior, half.T, lower=True)
            # No eigenvalue of B is below 1: it needs no jitter.
            posterior = jnp.linalg.cholesky(
                jnp.eye(prior.shape[0], dtype=prior.dtype) + white / noise_var
            )
            projected = solve_triangular(
                posterior, expected @ (counted * target) / noise_var, lower=True
            )
            return _Factors(white, posterior, projected)

        return prior, one_by_one(
            one, (spread, pairs.target.T, pairs.counted.T, jnp.exp(2.0 * self.log_noise_std))
        )
