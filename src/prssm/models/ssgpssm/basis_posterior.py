"""Bayesian regression on basis functions, in closed form.

The prior is the matrix-normal inverse-Wishart one:

    target_n = A phi_n + w_n,   w ~ N(0, Q),
    Q ~ IW(dof, scale),   A | Q ~ MN(0, Q, V),   V = diag(prior_var).

With B = A V^(-1/2) and psi = V^(1/2) phi all is written for a unit prior, so that the tiny prior
variances of high frequencies are multiplied and never divided by.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, PRNGKeyArray


class Statistics(eqx.Module):
    """Sums over the data: all that the posterior needs."""

    phi_phi: Float[Array, "M M"]
    target_phi: Float[Array, "Dx M"]
    target_target: Float[Array, "Dx Dx"]
    count: Float[Array, ""]

    @classmethod
    def of(
        cls, phi: Float[Array, "n M"], target: Float[Array, "n Dx"], valid: Float[Array, " n"]
    ) -> "Statistics":
        """Rows with `valid` zero do not count."""
        phi = phi * valid[:, None]
        target = target * valid[:, None]
        return cls(phi.T @ phi, target.T @ phi, target.T @ target, count=jnp.sum(valid))


class WeightPosterior(eqx.Module):
    """Q ~ IW(dof, scale), B | Q ~ MN(mean, Q, (root root')^-1)."""

    mean: Float[Array, "Dx M"]  # of B
    root: Float[Array, "M M"]  # Cholesky factor of I + sum psi psi'
    scale: Float[Array, "Dx Dx"]
    dof: Float[Array, ""]
    prior_std: Float[Array, " M"]

    @classmethod
    def create(
        cls,
        sums: Statistics,
        prior_var: Float[Array, " M"],
        dof: float,
        scale: Float[Array, "Dx Dx"],
    ) -> "WeightPosterior":
        std = jnp.sqrt(prior_var)
        root = jnp.linalg.cholesky(jnp.eye(len(std)) + std[:, None] * sums.phi_phi * std)
        half = solve_triangular(root, (sums.target_phi * std).T, lower=True)  # root^-1 sum psi t'
        mean = solve_triangular(root, half, lower=True, trans=1).T
        return cls(
            mean,
            root,
            scale + sums.target_target - half.T @ half,
            dof=dof + sums.count,
            prior_std=std,
        )

    def log_evidence(self) -> Float[Array, ""]:
        """log p(targets) with A and Q integrated out.

        Up to what does not depend on the prior variances.
        """
        states = len(self.scale)
        volume = jnp.sum(jnp.log(jnp.diagonal(self.root)))
        return -states * volume - 0.5 * self.dof * jnp.linalg.slogdet(self.scale)[1]

    def sample(
        self, key: PRNGKeyArray, most: int
    ) -> tuple[Float[Array, "Dx M"], Float[Array, "Dx Dx"]]:
        """(A, Q) from the posterior; `most` is at least `dof`."""
        key_q, key_a = jax.random.split(key)
        factor = inverse_wishart_factor(key_q, self.dof, self.scale, most=most)
        eps = jax.random.normal(key_a, self.mean.shape)
        deviation = solve_triangular(self.root, (factor @ eps).T, lower=True, trans=1).T
        return (self.mean + deviation) * self.prior_std, factor @ factor.T


def chi_square(key: PRNGKeyArray, dof: Float[Array, " D"], most: int) -> Float[Array, " D"]:
    """Sums of `dof` (whole numbers, at most `most`) squared normal draws.

    This compiles in a moment; a gamma sampler does not.
    """
    squares = jax.random.normal(key, (len(dof), most)) ** 2
    return jnp.sum(jnp.where(jnp.arange(most) < dof[:, None], squares, 0.0), axis=1)


def inverse_wishart_factor(
    key: PRNGKeyArray, dof: Float[Array, ""], scale: Float[Array, "D D"], most: int
) -> Float[Array, "D D"]:
    """H with H H' ~ IW(dof, scale): the inverse of a Wishart draw by Bartlett's triangle."""
    size = len(scale)
    key_diagonal, key_below = jax.random.split(key)
    diagonal = jnp.sqrt(chi_square(key_diagonal, dof - jnp.arange(size), most))
    triangle = jnp.tril(jax.random.normal(key_below, (size, size)), -1) + jnp.diag(diagonal)
    # Z = triangle triangle' ~ W(dof, I) and scale = L L' give L Z^-1 L' = H H',
    # with H = L triangle'^-1.
    return solve_triangular(triangle, jnp.linalg.cholesky(scale).T, lower=True).T
