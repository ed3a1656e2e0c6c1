"""What a compiled engine reads: the dynamics and the trajectories as plain arrays, checked.

An engine asks `not_compiled` whether it can express the dynamics, then takes `arrays_of` them; one
that knows neurons in the prior mean takes `neurons_of` them, too.
"""

from typing import Generic, NamedTuple, TypeVar

import jax.numpy as jnp
from jaxtyping import Array

from prssm.dynamics.transition import Dynamics, NetworkMean
from prssm.foundation.arrays import AnyArray
from prssm.foundation.errors import DataError
from prssm.gp.kernels import SquaredExponential, squared_exponential_only

Each = TypeVar("Each")


class ForEachArray(NamedTuple, Generic[Each]):
    """One thing for each array that a compiled engine reads: the array, its shape or its gradient.

    The order is that of the native library. The shapes are in brackets; S is Dx, or 1 where all
    dimensions share kernel and inducing inputs.
    """

    x1: Each  # (Dx, B)
    u: Each  # (T, Du, B)
    eps: Each  # (T, Dx, B)
    zeta: Each  # (S, P, Din)
    precision: Each  # (S, Din), 1 / length scale
    variance: Each  # (S,)
    white: Each  # (S, P, P)
    mean: Each  # (Dx, P), or (Dx, P, B) where each trajectory has its own
    spread: Each  # (Dx, V, V), V = P, or 0 where there is none
    weight: Each  # (Dx, Din)
    bias: Each  # (Dx,)
    process_var: Each  # (Dx,)


Arrays = ForEachArray[Array]
Shapes = ForEachArray[tuple[int, ...]]


class ForEachNeuronArray(NamedTuple, Generic[Each]):
    """The same for the neurons of the prior mean; H is 0 where it has none."""

    neuron_out: Each  # (Dx, H)
    neuron_weight: Each  # (H, Din)
    neuron_bias: Each  # (H,)


NeuronArrays = ForEachNeuronArray[Array]


def not_compiled(dynamics: Dynamics, neurons: bool = False) -> str | None:
    """What of these dynamics a compiled engine does not know, in one line.

    None where it knows all. `neurons`: whether it knows those of a prior mean.
    """
    if type(dynamics.gp.kernel) is not SquaredExponential:
        return (
            f"it knows the squared-exponential kernel only, not {type(dynamics.gp.kernel).__name__}"
        )
    known = neurons or not isinstance(dynamics.mean, NetworkMean)
    if not known or _affine_part(dynamics) is None:
        means = "affine prior means and neurons" if neurons else "affine prior means"
        return f"it knows {means} only, not {type(dynamics.mean).__name__}"
    return None


def arrays_of(dynamics: Dynamics, x1: Array, u: Array, eps: Array, single: bool) -> Arrays:
    """All that a compiled engine reads, checked.

    Where `single`, trajectories and noise are in single precision.
    """
    kind = jnp.dtype(jnp.float32) if single else x1.dtype
    gp = dynamics.gp
    zeta = jnp.asarray(gp.zeta)
    kernel = squared_exponential_only(gp.kernel)
    affine = _affine_part(dynamics)
    if affine is None:
        raise TypeError(f"expected an affine mean, got {type(dynamics.mean).__name__}")
    weight, bias = affine
    spread = jnp.zeros((len(gp.mean), 0, 0), zeta.dtype) if gp.spread is None else gp.spread
    mean = gp.mean if gp.mean.ndim == 2 else gp.mean.astype(kind)
    arrays = Arrays(
        x1.astype(kind),
        u.astype(kind),
        eps.astype(kind),
        zeta=zeta,
        precision=jnp.exp(-kernel.log_lengthscale),
        variance=jnp.exp(2.0 * kernel.log_std),
        white=gp.white,
        mean=mean,
        spread=spread,
        weight=jnp.asarray(weight, zeta.dtype),
        bias=jnp.asarray(bias, zeta.dtype),
        process_var=dynamics.process_var,
    )
    _check(arrays)
    return arrays


def neurons_of(dynamics: Dynamics) -> NeuronArrays:
    """The neurons of the prior mean, checked; empty arrays where it has none."""
    dx, input_dim = _sizes(dynamics)
    kind = dynamics.gp.zeta.dtype
    mean = dynamics.mean
    if not isinstance(mean, NetworkMean):
        nothing = ((dx, 0), (0, dx + input_dim), (0,))
        return NeuronArrays(*(jnp.zeros(shape, kind) for shape in nothing))
    arrays = (mean.neuron_out, mean.neuron_weight, mean.neuron_bias)
    neurons = NeuronArrays(*(jnp.asarray(array, kind) for array in arrays))
    count = len(neurons.neuron_bias)
    shapes = ((dx, count), (count, dx + input_dim), (count,))
    for name, array, shape in zip(neurons._fields, neurons, shapes, strict=True):
        if array.shape != shape:
            raise DataError(f"rollout: {name}: expected shape {shape}, got {array.shape}")
    return neurons


def _affine_part(dynamics: Dynamics) -> tuple[AnyArray, AnyArray] | None:
    """A and b of the prior mean, without its neurons; None where it has none."""
    mean = dynamics.mean
    if isinstance(mean, NetworkMean):
        return mean.weight, mean.bias
    return mean.affine(*_sizes(dynamics))


def _sizes(dynamics: Dynamics) -> tuple[int, int]:
    dx = len(dynamics.gp.mean)
    return dx, dynamics.gp.zeta.shape[-1] - dx


def _check(arrays: Arrays) -> None:
    """Shapes and types agree.

    The libraries check once more, but cannot say it at the place of the mistake.
    """
    (sets, points, din) = arrays.zeta.shape
    (steps, _, batch) = arrays.eps.shape
    dx = len(arrays.mean)
    sets = 1 if sets == 1 else dx
    spread = points if arrays.spread.size else 0
    shapes = Shapes(
        (dx, batch),
        (steps, din - dx, batch),
        (steps, dx, batch),
        zeta=(sets, points, din),
        precision=(sets, din),
        variance=(sets,),
        white=(sets, points, points),
        mean=(dx, points, batch)[: arrays.mean.ndim],
        spread=(dx, spread, spread),
        weight=(dx, din),
        bias=(dx,),
        process_var=(dx,),
    )
    for name, array, shape in zip(arrays._fields, arrays, shapes, strict=True):
        if array.shape != shape:
            raise DataError(f"rollout: {name}: expected shape {shape}, got {array.shape}")
        trajectory = name in ("x1", "u", "eps") or (name == "mean" and array.ndim == 3)
        alike = arrays.x1.dtype if trajectory else arrays.zeta.dtype
        if array.dtype != alike or array.dtype not in (jnp.float32, jnp.float64):
            raise DataError(
                f"rollout: {name}: expected float32 or float64 like the others, got {array.dtype}"
            )
    if steps < 1:
        raise DataError("rollout: eps: expected at least one step, got none")
