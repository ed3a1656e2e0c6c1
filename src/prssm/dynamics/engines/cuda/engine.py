"""The rollout on an NVIDIA GPU by the CUDA library, as a JAX function with its gradient.

The whole recursion is one launch, its adjoint three. The kernels give the cotangents of all states
and sums over all steps and trajectories; the gradients of the parameters are made of these sums.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.dynamics.engines.arrays import Arrays, arrays_of, not_compiled
from prssm.dynamics.engines.cuda import library
from prssm.dynamics.engines.cuda.layout import Shape, laid_out, parameter_gradients
from prssm.dynamics.engines.platform import platform as _platform
from prssm.dynamics.transition import Dynamics

STRETCHES = 33  # of time, whose sums are made side by side


def why_not(dynamics: Dynamics) -> str | None:
    """Why the CUDA engine cannot run these dynamics here, in one line; None where it can."""
    if _platform() != "gpu":
        return f"it runs on a GPU, JAX computes on the {_platform()}"
    if reason := not_compiled(dynamics) or library.why_not():
        return reason
    dx = len(dynamics.gp.mean)
    (_, points, din) = dynamics.gp.zeta.shape
    shape = Shape(
        dx,
        din - dx,
        points,
        steps=1,
        batch=1,
        spread=dynamics.gp.spread is not None,
        own_mean=dynamics.gp.mean.ndim == 3,
    )
    if _slice_trajectories(shape, np.dtype(np.float64)) == 0:
        return f"{points} inducing points need more shared memory than this GPU has"
    return None


def cuda_rollout(
    dynamics: Dynamics,
    x1: Float[Array, "Dx B"],
    u: Float[Array, "T Du B"],
    eps: Float[Array, "T Dx B"],
    single: bool = False,
) -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T as by `rollout`'s other engines."""
    return _run(arrays_of(dynamics, x1, u, eps=eps, single=single)).astype(x1.dtype)


@jax.custom_vjp
def _run(arrays: Arrays) -> Array:
    shape = Shape.of(arrays)
    call = _library_function(
        library.FORWARD, jax.ShapeDtypeStruct(arrays.eps.shape, arrays.eps.dtype)
    )
    return call(
        arrays.x1, arrays.u, arrays.eps, *laid_out(arrays, shape), sizes=np.asarray(shape, np.int64)
    )


def _forward(arrays: Arrays) -> tuple[Array, tuple[Arrays, Array]]:
    states = _run(arrays)
    return states, (arrays, states)


def _backward(saved: tuple[Arrays, Array], g_states: Array) -> tuple[Arrays]:
    arrays, states = saved
    shape = Shape.of(arrays)
    g, deviation, sums, g_own_mean = _adjoint(arrays, shape, states, g_states=g_states)
    sums = jnp.sum(sums, axis=0, dtype=arrays.zeta.dtype)
    # The last noise moves nothing: no state follows x_T.
    g_eps = jnp.concatenate([deviation * g[1:, : shape.dx], jnp.zeros_like(arrays.eps[:1])])
    gradients = parameter_gradients(arrays, shape, sums, g_own_mean=jnp.sum(g_own_mean, axis=0))
    return (gradients._replace(x1=g[0, : shape.dx], u=g[:, shape.dx :], eps=g_eps),)


_run.defvjp(_forward, _backward)


def _adjoint(
    arrays: Arrays, shape: Shape, states: Array, g_states: Array
) -> tuple[Array, Array, Array, Array]:
    """Cotangents of all states and inputs, deviations, and sums over all points.

    The sums are in slices; the last result is for the mean of each trajectory, where it has its
    own.
    """
    dx = shape.dx
    din = shape.din
    batch = shape.batch
    later = shape.steps - 1
    kind = arrays.eps.dtype
    stretches = max(1, min(STRETCHES, later))
    slices = stretches * -(-batch // _slice_trajectories(shape, kind))
    results = [
        (shape.steps, din, batch),
        (later, dx, batch),
        (later, dx, din, batch),
        (slices, dx, shape.sums),
        (stretches, dx, shape.points, batch) if shape.own_mean else (stretches, 0),
    ]
    call = _library_function(
        library.BACKWARD, [jax.ShapeDtypeStruct(size, kind) for size in results]
    )
    g, deviation, _, sums, g_own_mean = call(
        states,
        arrays.u,
        arrays.eps,
        *laid_out(arrays, shape),
        g_states,
        sizes=np.asarray(shape, np.int64),
        stretches=np.int64(stretches),
    )  # the third result is where the kernels leave slopes
    return g, deviation, sums, g_own_mean


def _library_function(
    name: str, results: jax.ShapeDtypeStruct | list[jax.ShapeDtypeStruct]
) -> Callable:
    """A function of the library; under vmap all arrays get an axis of models in front."""
    return jax.ffi.ffi_call(name, results, vmap_method="broadcast_all")


def _slice_trajectories(shape: Shape, kind: np.dtype) -> int:
    return library.slice_trajectories(
        shape.dx,
        shape.du,
        shape.points,
        spread=bool(shape.spread),
        own_mean=bool(shape.own_mean),
        number_size=kind.itemsize,
    )
