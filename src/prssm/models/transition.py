"""x_{t+1} = f(x_t, u_t) + process noise: an independent sparse GP for each latent dimension around a prior mean.

Arrays of all dimensions are stacked, the latent dimension leads; batches of states come last (`Dx B`).
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.gp.sparse import Conditional, SparseGP


class Mean(eqx.Module):
    """A prior mean m(x, u) of the transition; its arrays, if any, are trained."""

    @abstractmethod
    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]: ...


class IdentityMean(Mean):
    """m(x, u) = x: without evidence, the state stays where it is."""

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        return x


class ZeroMean(Mean):
    """m(x, u) = 0."""

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        return jnp.zeros_like(x)


MEANS: dict[str, type[Mean]] = {"identity": IdentityMean, "zero": ZeroMean}


class Dynamics(eqx.Module):
    """The transition with everything factored that no state changes: what the recursion through time calls."""

    gp: Conditional  # stacked over the latent dimensions
    mean: Mean
    process_var: Float[Array, " Dx"]

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> tuple[Array, Array]:
        """Mean and variance of x_{t+1}, process noise included."""
        xu = jnp.concatenate([x, u])
        deviation, variance = jax.vmap(lambda gp: gp(xu))(self.gp)
        return self.mean(x, u) + deviation, variance + self.process_var[:, None]


class Transition(eqx.Module):
    """The transition's parameters."""

    gp: SparseGP  # stacked over the latent dimensions
    mean: Mean
    log_process_std: Float[Array, " Dx"]

    def condition(self) -> Dynamics:
        """The dynamics alone, for a simulation."""
        return self.condition_and_kl()[0]

    def condition_and_kl(self) -> tuple[Dynamics, Float[Array, ""]]:
        """The dynamics and the sum over latent dimensions of KL(q(z_d) || p(z_d)), from one factorisation."""

        def one(gp: SparseGP) -> tuple[Conditional, Array]:
            white = gp.whitener()
            return gp.condition(white), gp.kl(white)

        conditionals, kls = jax.vmap(one)(self.gp)
        return Dynamics(conditionals, self.mean, jnp.exp(2.0 * self.log_process_std)), jnp.sum(kls)
