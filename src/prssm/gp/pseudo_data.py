"""A sparse GP held as a small pseudo data set: targets seen through noise at pseudo inputs.

All of them are free. However close the inputs lie, K + noise is well conditioned, so that gradients
through long predictions stay usable.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.gp import exact
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import Kernel
from prssm.gp.linalg import JITTER


class PseudoData(eqx.Module):
    """One scalar function with a zero-mean prior, known through N(targets; f(zeta), noise)."""

    kernel: Kernel
    zeta: Float[Array, "P Din"]
    targets: Float[Array, " P"]
    log_noise_std: Float[Array, " P"]

    def noise_var(self) -> Float[Array, " P"]:
        """Never less than the jitter that any factorisation needs."""
        return jnp.exp(2.0 * self.log_noise_std) + JITTER * jnp.mean(self.kernel.diag(self.zeta.T))

    def condition(self) -> Conditional:
        """The posterior given the pseudo data."""
        return exact.condition(self.kernel, self.zeta, self.targets, noise_var=self.noise_var())

    def kl(self) -> Float[Array, ""]:
        """KL(q || p) of the function at the pseudo inputs z.

        q(z) is p(z) N(t; z, S) / N(t; 0, K + S), so it is E_q[log N(t; z, S)] - log N(t; 0, K + S).
        """
        noise_var = self.noise_var()
        mean, variance = self.condition()(self.zeta.T)
        fit = -0.5 * jnp.sum(
            jnp.log(2.0 * jnp.pi * noise_var) + ((self.targets - mean) ** 2 + variance) / noise_var
        )
        return fit - exact.log_marginal(self.kernel, self.zeta, self.targets, noise_var=noise_var)
