"""y_t = g(x_t) + sensor noise. The default g selects the first Dy states; any differentiable function will do."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.foundation.errors import OptionError


class Emission(eqx.Module):
    """The noise-free output of each state of a batch; its arrays, if any, are trained."""

    @abstractmethod
    def __call__(self, x: Float[Array, "T Dx B"]) -> Float[Array, "T Dy B"]: ...


class Selector(Emission):
    """g(x) = C x with C = [I, 0]: the first Dy states are noise-free sensor readings."""

    output_dim: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, "T Dx B"]) -> Float[Array, "T Dy B"]:
        return x[:, : self.output_dim]


class PointwiseEmission(Emission):
    """A user's function of one state vector (Dx) -> (Dy), applied to every state. An equinox module's arrays are trained."""

    function: Callable[[Array], Array]

    def __call__(self, x: Float[Array, "T Dx B"]) -> Float[Array, "T Dy B"]:
        over_batch = jax.vmap(self.function, in_axes=1, out_axes=1)
        return jax.vmap(over_batch)(x)


class _Static(eqx.Module):
    """A plain function as a module without arrays."""

    function: Callable[[Array], Array] = eqx.field(static=True)

    def __call__(self, x: Array) -> Array:
        return self.function(x)


def build_emission(choice: str | Callable, latent_dim: int, output_dim: int) -> Emission:
    """The emission that the option names, probed once so that a wrong shape is found here and not in training."""
    if isinstance(choice, str):
        return Selector(output_dim)
    function = choice if isinstance(choice, eqx.Module) else _Static(choice)
    shape = jax.eval_shape(function, jax.ShapeDtypeStruct((latent_dim,), jnp.float64)).shape
    if shape != (output_dim,):
        raise OptionError(f"option emission: expected a function of a state ({latent_dim},) to an output ({output_dim},), "
                          f"got output shape {shape}")
    return PointwiseEmission(function)
