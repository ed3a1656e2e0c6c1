"""x_{t+1} = f(x_t, u_t) + process noise, with an independent sparse GP for each latent dimension.

Each GP is the deviation from a prior mean. Arrays of all dimensions are stacked, the latent
dimension leads; batches of states come last (`Dx B`). A kernel and inducing inputs that all
dimensions share lead with one instead.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.gp.sparse import Posterior, SparseGP, Whiten, condition_all, unshared, white_of


class Network(NamedTuple):
    """The arrays of m(x, u) = A [x; u] + b + O tanh(W [x; u] + c); H is 0 where m is affine."""

    weight: Float[AnyArray, "Dx Din"]
    bias: Float[AnyArray, " Dx"]
    neuron_out: Float[AnyArray, "Dx H"]
    neuron_weight: Float[AnyArray, "H Din"]
    neuron_bias: Float[AnyArray, " H"]


class Mean(eqx.Module):
    """A prior mean m(x, u) of the transition; its arrays, if any, are trained."""

    @abstractmethod
    def __call__(
        self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]
    ) -> Float[Array, "Dx B"]: ...

    def affine(
        self, latent_dim: int, input_dim: int
    ) -> tuple[Float[AnyArray, "Dx Din"], Float[AnyArray, " Dx"]] | None:
        """A and b where m(x, u) = A [x; u] + b, else None.

        For engines that know no other mean.
        """
        return None

    def network(self, latent_dim: int, input_dim: int) -> Network | None:
        """The arrays of m(x, u) where it is affine, or has neurons beside that; else None.

        For steps in NumPy, which know no other mean.
        """
        affine = self.affine(latent_dim, input_dim)
        if affine is None:
            return None
        weight, bias = affine
        return Network(
            weight,
            bias,
            neuron_out=np.zeros((latent_dim, 0)),
            neuron_weight=np.zeros((0, latent_dim + input_dim)),
            neuron_bias=np.zeros(0),
        )


class IdentityMean(Mean):
    """m(x, u) = x: without evidence, the state stays where it is."""

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        return x

    def affine(self, latent_dim: int, input_dim: int) -> tuple[AnyArray, AnyArray]:
        return np.eye(latent_dim, latent_dim + input_dim), np.zeros(latent_dim)


class ZeroMean(Mean):
    """m(x, u) = 0."""

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        return jnp.zeros_like(x)

    def affine(self, latent_dim: int, input_dim: int) -> tuple[AnyArray, AnyArray]:
        return np.zeros((latent_dim, latent_dim + input_dim)), np.zeros(latent_dim)


class LinearMean(Mean):
    """m(x, u) = A [x; u] + b, trained along: what a linear model can carry costs the GP nothing."""

    weight: Float[AnyArray, "Dx Din"]
    bias: Float[AnyArray, " Dx"]

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        return jnp.matmul(self.weight, jnp.concatenate([x, u])) + self.bias[:, None]

    def affine(self, latent_dim: int, input_dim: int) -> tuple[AnyArray, AnyArray]:
        return self.weight, self.bias


class NetworkMean(Mean):
    """m(x, u) = A [x; u] + b + O tanh(W [x; u] + c): a linear model with a few neurons beside it.

    Neurons see any direction of state and input, so that a nonlinearity between many states costs
    no more than one between few. They are bounded: while A is stable, so is every free run.
    """

    weight: Float[AnyArray, "Dx Din"]
    bias: Float[AnyArray, " Dx"]
    neuron_out: Float[AnyArray, "Dx H"]
    neuron_weight: Float[AnyArray, "H Din"]
    neuron_bias: Float[AnyArray, " H"]

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Float[Array, "Dx B"]:
        xu = jnp.concatenate([x, u])
        neurons = jnp.tanh(jnp.matmul(self.neuron_weight, xu) + self.neuron_bias[:, None])
        affine = jnp.matmul(self.weight, xu) + self.bias[:, None]
        return affine + jnp.matmul(self.neuron_out, neurons)

    def network(self, latent_dim: int, input_dim: int) -> Network:
        return Network(
            self.weight,
            self.bias,
            neuron_out=self.neuron_out,
            neuron_weight=self.neuron_weight,
            neuron_bias=self.neuron_bias,
        )


# The prior means by the names that options have. A new one is a class above and a line here; how it
# starts is its entry: (latent dimension, input dimension) -> mean.
MEANS: dict[str, Callable[[int, int], Mean]] = {
    "identity": lambda latent_dim, input_dim: IdentityMean(),
    "zero": lambda latent_dim, input_dim: ZeroMean(),
    "linear": lambda latent_dim, input_dim: LinearMean(
        np.eye(latent_dim, latent_dim + input_dim), np.zeros(latent_dim)
    ),
}


class Dynamics(eqx.Module):
    """The transition with everything factored that no state changes.

    The recursion through time calls it once a step.
    """

    gp: Posterior  # stacked over the latent dimensions
    mean: Mean
    process_var: Float[Array, " Dx"]

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> tuple[Array, Array]:
        """Mean and variance of x_{t+1}, process noise included."""
        xu = jnp.concatenate([x, u])
        deviation, variance = jax.vmap(lambda gp: gp(xu))(unshared(self.gp))
        return self.mean(x, u) + deviation, variance + self.process_var[:, None]

    def drawn(self, noise: Float[Array, "Dx P B"]) -> "Dynamics":
        """One function for each trajectory of a batch.

        It is fixed as far as the inducing points determine it.
        """
        gp = self.gp
        v = jax.vmap(Posterior.drawn)(unshared(gp), noise).mean
        return Dynamics(
            Posterior(gp.kernel, gp.zeta, gp.white, mean=v, spread=None),
            self.mean,
            self.process_var,
        )

    def unshared(self) -> "Dynamics":
        """The same dynamics without anything shared between the dimensions.

        Each dimension gets a copy of the kernel and the inducing inputs where all share one.
        """
        return Dynamics(unshared(self.gp), self.mean, self.process_var)

    def kl(self) -> Float[Array, ""]:
        """Sum over latent dimensions of KL(q(z_d) || p(z_d))."""
        return jnp.sum(jax.vmap(Posterior.kl)(unshared(self.gp)))


class Transition(eqx.Module):
    """The transition's parameters; `condition` gives the dynamics that run through time."""

    gp: SparseGP  # stacked over the latent dimensions
    mean: Mean
    log_process_std: Float[AnyArray, " Dx"]

    def condition(self, whiten: Whiten = white_of) -> Dynamics:
        """The dynamics, factored once.

        `whiten` is another way to factor, such as an engine's.
        """
        return Dynamics(
            condition_all(self.gp, whiten), self.mean, jnp.exp(2.0 * self.log_process_std)
        )
