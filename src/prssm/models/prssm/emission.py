"""y_t = g(x_t, u_t) + sensor noise.

The paper's g selects the first Dy states; any differentiable function will do.
"""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.foundation.errors import OptionError


class Emission(eqx.Module):
    """The noise-free output of each state of a batch; its arrays, if any, are trained."""

    @property
    def shown(self) -> int:
        """How many first states are noise-free sensor readings, which begin at the measurements."""
        return 0

    @abstractmethod
    def __call__(
        self, x: Float[Array, "T Dx B"], u: Float[Array, "T Du B"]
    ) -> Float[Array, "T Dy B"]: ...

    def affine(
        self, latent_dim: int, input_dim: int
    ) -> tuple[Float[np.ndarray, "Dy Din"], Float[np.ndarray, " Dy"]] | None:
        """C and c of g(x, u) = C [x; u] + c; None where it is another."""
        return None


class Selector(Emission):
    """g(x) = C x with C = [I, 0]: the first Dy states are noise-free sensor readings."""

    output_dim: int = eqx.field(static=True)

    @property
    def shown(self) -> int:
        return self.output_dim

    def __call__(
        self, x: Float[Array, "T Dx B"], u: Float[Array, "T Du B"]
    ) -> Float[Array, "T Dy B"]:
        return x[:, : self.output_dim]

    def affine(self, latent_dim: int, input_dim: int) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(self.output_dim, latent_dim + input_dim), np.zeros(self.output_dim)


class LinearEmission(Emission):
    """g(x, u) = C x + D u + offset, trained."""

    states: Float[AnyArray, "Dy Dx"]
    inputs: Float[AnyArray, "Dy Du"]
    offset: Float[AnyArray, " Dy"]

    def __call__(
        self, x: Float[Array, "T Dx B"], u: Float[Array, "T Du B"]
    ) -> Float[Array, "T Dy B"]:
        seen = jnp.einsum("yx,txb->tyb", self.states, x) + jnp.einsum("yu,tub->tyb", self.inputs, u)
        return seen + self.offset[:, None]

    def affine(self, latent_dim: int, input_dim: int) -> tuple[np.ndarray, np.ndarray]:
        whole = np.concatenate([np.asarray(self.states), np.asarray(self.inputs)], axis=1)
        return whole, np.asarray(self.offset)


class PointwiseEmission(Emission):
    """A user's function of one state vector (Dx) -> (Dy), applied to every state.

    An equinox module's arrays are trained.
    """

    function: Callable[[Array], Array]

    def __call__(
        self, x: Float[Array, "T Dx B"], u: Float[Array, "T Du B"]
    ) -> Float[Array, "T Dy B"]:
        over_batch = jax.vmap(self.function, in_axes=1, out_axes=1)
        return jax.vmap(over_batch)(x)


class _Static(eqx.Module):
    """A plain function as a module without arrays."""

    function: Callable[[Array], Array] = eqx.field(static=True)

    def __call__(self, x: Array) -> Array:
        return self.function(x)


# The emissions by the names that options have. A new one is a class above and a line here; how it
# starts is its entry: (latent dimension, output dimension, input dimension) -> emission.
EMISSIONS: dict[str, Callable[[int, int, int], Emission]] = {
    "selector": lambda latent_dim, output_dim, input_dim: Selector(output_dim),
    "linear": lambda latent_dim, output_dim, input_dim: LinearEmission(
        np.eye(output_dim, latent_dim), np.zeros((output_dim, input_dim)), np.zeros(output_dim)
    ),
}


def build_emission(
    choice: str | Callable, latent_dim: int, output_dim: int, input_dim: int
) -> Emission:
    """The emission that the option names.

    It is probed once, so that a wrong shape is found here and not in training.
    """
    if isinstance(choice, str):
        return EMISSIONS[choice](latent_dim, output_dim, input_dim)
    function = choice if isinstance(choice, eqx.Module) else _Static(choice)
    shape = jax.eval_shape(function, jax.ShapeDtypeStruct((latent_dim,), jnp.float64)).shape
    if shape != (output_dim,):
        raise OptionError(
            f"option emission: expected a function of a state ({latent_dim},) to an output "
            f"({output_dim},), "
            f"got output shape {shape}"
        )
    return PointwiseEmission(function)
