"""The rollout by the native library, as a JAX function with its gradient.

In double precision or, where asked, with the recursion in single precision: the parameters stay as they are, the library
rounds the whitened form, in which every number is of order one.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.foundation.errors import DataError
from prssm.gp.kernels import SquaredExponential
from prssm.models.device import platform as _platform
from prssm.models.native import library
from prssm.models.transition import Dynamics


class Arrays(NamedTuple):
    """What a compiled engine reads; the order is that of the native library.

    S is Dx, or 1 where all dimensions share kernel and inducing inputs.
    """

    x1: Float[Array, "Dx B"]
    u: Float[Array, "T Du B"]
    eps: Float[Array, "T Dx B"]
    zeta: Float[Array, "S P Din"]
    precision: Float[Array, "S Din"]  # 1 / length scale
    variance: Float[Array, " S"]
    white: Float[Array, "S P P"]
    mean: Float[Array, "Dx P"] | Float[Array, "Dx P B"]
    spread: Float[Array, "Dx V V"]  # V = P, or 0 where there is none
    weight: Float[Array, "Dx Din"]
    bias: Float[Array, " Dx"]
    process_var: Float[Array, " Dx"]


def why_not(dynamics: Dynamics) -> str | None:
    """Why the native engine cannot run these dynamics here, in one line; None where it can."""
    if _platform() != "cpu":
        return f"it runs on the CPU, JAX computes on the {_platform()}"
    return not_compiled(dynamics) or library.why_not()


def not_compiled(dynamics: Dynamics) -> str | None:
    """What of these dynamics the compiled engines do not know, in one line; None where they know all."""
    if type(dynamics.gp.kernel) is not SquaredExponential:
        return f"it knows the squared-exponential kernel only, not {type(dynamics.gp.kernel).__name__}"
    if dynamics.mean.affine(*_sizes(dynamics)) is None:
        return f"it knows affine prior means only, not {type(dynamics.mean).__name__}"
    return None


def native_rollout(dynamics: Dynamics, x1: Float[Array, "Dx B"], u: Float[Array, "T Du B"], eps: Float[Array, "T Dx B"],
                   single: bool = False) -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T as by `rollout`'s other engines."""
    library.threads()  # a setting that cannot be meant is refused here, not in the middle of a run
    return _run(arrays_of(dynamics, x1, u, eps, single)).astype(x1.dtype)


def arrays_of(dynamics: Dynamics, x1: Array, u: Array, eps: Array, single: bool) -> Arrays:
    """All that a compiled engine reads, checked; where `single`, trajectories and noise in single precision."""
    kind = jnp.dtype(jnp.float32) if single else x1.dtype
    gp, (weight, bias) = dynamics.gp, dynamics.mean.affine(*_sizes(dynamics))
    spread = jnp.zeros((len(gp.mean), 0, 0), gp.zeta.dtype) if gp.spread is None else gp.spread
    mean = gp.mean if gp.mean.ndim == 2 else gp.mean.astype(kind)
    arrays = Arrays(x1.astype(kind), u.astype(kind), eps.astype(kind), gp.zeta, jnp.exp(-gp.kernel.log_lengthscale),
                    jnp.exp(2.0 * gp.kernel.log_std), gp.white, mean, spread, weight.astype(gp.zeta.dtype),
                    bias.astype(gp.zeta.dtype), dynamics.process_var)
    _check(arrays)
    return arrays


def _sizes(dynamics: Dynamics) -> tuple[int, int]:
    dx = len(dynamics.gp.mean)
    return dx, dynamics.gp.zeta.shape[-1] - dx


def _check(arrays: Arrays) -> None:
    """Shapes and types agree; the libraries check once more, but cannot say it at the place of the mistake."""
    (sets, points, din), (steps, _, batch), dx = arrays.zeta.shape, arrays.eps.shape, len(arrays.mean)
    sets, spread = 1 if sets == 1 else dx, points if arrays.spread.size else 0
    shapes = Arrays((dx, batch), (steps, din - dx, batch), (steps, dx, batch), (sets, points, din), (sets, din), (sets,),
                    (sets, points, points), (dx, points, batch)[: arrays.mean.ndim], (dx, spread, spread),
                    (dx, din), (dx,), (dx,))
    for name, array, shape in zip(Arrays._fields, arrays, shapes, strict=True):
        if array.shape != shape:
            raise DataError(f"rollout: {name}: expected shape {shape}, got {array.shape}")
        trajectory = name in ("x1", "u", "eps") or (name == "mean" and array.ndim == 3)
        alike = arrays.x1.dtype if trajectory else arrays.zeta.dtype
        if array.dtype != alike or array.dtype not in (jnp.float32, jnp.float64):
            raise DataError(f"rollout: {name}: expected float32 or float64 like the others, got {array.dtype}")
    if steps < 1:
        raise DataError("rollout: eps: expected at least one step, got none")


@jax.custom_vjp
def _run(arrays: Arrays) -> Array:
    return _call(library.FORWARD, jax.ShapeDtypeStruct(arrays.eps.shape, arrays.eps.dtype), arrays)


def _forward(arrays: Arrays) -> tuple[Array, tuple]:
    """The trajectories; `wanted` is part of the tree's structure, so that it is known when the gradient is traced."""
    wanted = () if arrays.u.perturbed or arrays.eps.perturbed else None
    values = Arrays(*(array.value for array in arrays))
    states = _run(values)
    return states, (values, states, wanted)


def _backward(saved: tuple, g_states: Array) -> tuple[Arrays]:
    """Gradients of all arrays; those of inputs and noise are computed only where somebody asks for them."""
    arrays, states, wanted = saved
    results = Arrays(*(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays))
    if wanted is None:
        nothing = jax.ShapeDtypeStruct((0,), states.dtype)
        results = results._replace(u=nothing, eps=nothing)
    gradients = Arrays(*_call(library.BACKWARD, results, (states, *arrays[1:], g_states)))
    return (gradients if wanted is not None else gradients._replace(u=None, eps=None),)


_run.defvjp(_forward, _backward, symbolic_zeros=True)


def _call(name: str, results: jax.ShapeDtypeStruct | Arrays, arrays: tuple) -> Array | Arrays:
    """Under vmap the arrays get one axis in front, of length one where all models share them."""
    return jax.ffi.ffi_call(name, results, vmap_method="expand_dims")(*arrays)
