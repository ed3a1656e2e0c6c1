"""The rollout by the native library, as a JAX function with its gradient.

In double precision or, where asked, with the recursion in single precision: the parameters stay as
they are, the library rounds the whitened form, in which every number is of order one.
"""

import jax
from jax.custom_derivatives import CustomVJPPrimal
from jaxtyping import Array, Float

from prssm.dynamics.engines.arrays import (
    Arrays,
    ForEachArray,
    ForEachNeuronArray,
    NeuronArrays,
    arrays_of,
    neurons_of,
    not_compiled,
)
from prssm.dynamics.engines.native import library
from prssm.dynamics.engines.platform import platform as _platform
from prssm.dynamics.transition import Dynamics

# Under vmap the arrays get one axis in front, of length one where all models share them.
_UNDER_VMAP = "expand_dims"


def why_not(dynamics: Dynamics) -> str | None:
    """Why the native engine cannot run these dynamics here, in one line; None where it can."""
    if _platform() != "cpu":
        return f"it runs on the CPU, JAX computes on the {_platform()}"
    return not_compiled(dynamics, neurons=True) or library.why_not()


def native_rollout(
    dynamics: Dynamics,
    x1: Float[Array, "Dx B"],
    u: Float[Array, "T Du B"],
    eps: Float[Array, "T Dx B"],
    single: bool = False,
) -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T as by `rollout`'s other engines."""
    library.threads()  # a setting that cannot be meant is refused here, not in the middle of a run
    arrays = arrays_of(dynamics, x1, u, eps=eps, single=single)
    return _run(arrays, neurons_of(dynamics)).astype(x1.dtype)


@jax.custom_vjp
def _run(arrays: Arrays, neurons: NeuronArrays) -> Array:
    states = jax.ShapeDtypeStruct(arrays.eps.shape, arrays.eps.dtype)
    return jax.ffi.ffi_call(library.FORWARD, states, vmap_method=_UNDER_VMAP)(*arrays, *neurons)


def _forward(
    arrays: ForEachArray[CustomVJPPrimal], neurons: ForEachNeuronArray[CustomVJPPrimal]
) -> tuple[Array, tuple]:
    """The trajectories, and what the gradient needs.

    `wanted` is part of the tree's structure, so that it is known when the gradient is traced.
    """
    wanted = () if arrays.u.perturbed or arrays.eps.perturbed else None
    values = Arrays(*(array.value for array in arrays))
    neuron_values = NeuronArrays(*(array.value for array in neurons))
    states = _run(values, neuron_values)
    return states, (values, neuron_values, states, wanted)


def _backward(
    saved: tuple, g_states: Array
) -> tuple[ForEachArray[Array | None], ForEachNeuronArray[Array]]:
    """Gradients of all arrays.

    Those of inputs and noise are computed only where somebody asks for them.
    """
    arrays, neurons, states, wanted = saved
    results = ForEachArray(*(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays))
    neuron_results = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in neurons]
    if wanted is None:
        nothing = jax.ShapeDtypeStruct((0,), states.dtype)
        results = results._replace(u=nothing, eps=nothing)
    call = jax.ffi.ffi_call(library.BACKWARD, [*results, *neuron_results], vmap_method=_UNDER_VMAP)
    found = call(states, *arrays[1:], *neurons, g_states)
    gradients = ForEachArray[Array | None](*found[: len(arrays)])
    if wanted is None:
        gradients = gradients._replace(u=None, eps=None)
    return gradients, NeuronArrays(*found[len(arrays) :])


_run.defvjp(_forward, _backward, symbolic_zeros=True)
