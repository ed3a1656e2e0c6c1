"""The rollout on an NVIDIA GPU by the CUDA library, as a JAX function with its gradient.

Parameters are brought into the kernels' order by one launch, the whole recursion is another. The
adjoint has five: cotangents of all states, sums over all steps and trajectories, and from these the
gradients of the parameters.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.dynamics.engines.arrays import Arrays, arrays_of, not_compiled
from prssm.dynamics.engines.cuda import library
from prssm.dynamics.engines.cuda.layout import Shape
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
    return _states_and_records(arrays)[0]


def _states_and_records(arrays: Arrays) -> tuple[Array, Array]:
    """The trajectories, and the parameters as the kernels read them."""
    shape = Shape.of(arrays)
    results = [arrays.eps.shape, (shape.dx, shape.record)]
    call = _library_function(
        library.FORWARD, [jax.ShapeDtypeStruct(size, arrays.eps.dtype) for size in results]
    )
    states, records = call(*arrays, sizes=np.asarray(shape, np.int64))
    return states, records


def _forward(arrays: Arrays) -> tuple[Array, tuple[Arrays, Array, Array]]:
    states, records = _states_and_records(arrays)
    return states, (arrays, states, records)


def _backward(saved: tuple[Arrays, Array, Array], g_states: Array) -> tuple[Arrays]:
    arrays, states, records = saved
    shape = Shape.of(arrays)
    moving, slopes = _adjoint(arrays, states, records, g_states=g_states)
    # The last noise moves nothing: no state follows x_T.
    g_eps = jnp.concatenate(
        [moving.deviation * moving.g[1:, : shape.dx], jnp.zeros_like(arrays.eps[:1])]
    )
    g_mean = slopes.pop("mean")
    gradients = arrays._replace(
        x1=moving.g[0, : shape.dx],
        u=moving.g[:, shape.dx :],
        eps=g_eps,
        mean=jnp.sum(moving.own_mean, axis=0) if shape.own_mean else g_mean,
        **slopes,
    )
    return (gradients,)


_run.defvjp(_forward, _backward)


class _Moving(NamedTuple):
    """What the adjoint leaves for each trajectory."""

    g: Float[Array, "T Din B"]  # cotangents of states and inputs
    deviation: Float[Array, "T-1 Dx B"]
    own_mean: Float[Array, "stretches Dx P B"]  # where each trajectory has its own


def _adjoint(
    arrays: Arrays, states: Array, records: Array, g_states: Array
) -> tuple[_Moving, dict[str, Array]]:
    """What is each trajectory's own, and the gradients of the parameters by their names."""
    shape = Shape.of(arrays)
    dx = shape.dx
    batch = shape.batch
    later = shape.steps - 1
    kind = arrays.eps.dtype
    stretches = max(1, min(STRETCHES, later))
    slices = stretches * -(-batch // _slice_trajectories(shape, kind))
    in_kind = [
        (shape.steps, shape.din, batch),
        (later, dx, batch),
        (later, dx, shape.din, batch),
        (slices, dx, shape.sums),
        (stretches, dx, shape.points, batch) if shape.own_mean else (stretches, 0),
    ]
    names = [name for name in arrays._fields if name not in ("x1", "u", "eps")]
    sizes = {name: getattr(arrays, name).shape for name in names}
    if shape.own_mean:
        sizes["mean"] = (dx, 0)
    parameter_kind = arrays.zeta.dtype
    results = [jax.ShapeDtypeStruct(size, kind) for size in in_kind]
    results += [
        jax.ShapeDtypeStruct(size, parameter_kind) for size in [(dx, shape.sums), *sizes.values()]
    ]
    g, deviation, _, _, g_own_mean, _, *slopes = _library_function(library.BACKWARD, results)(
        *arrays._replace(x1=states),
        records,
        g_states,
        sizes=np.asarray(shape, np.int64),
        stretches=np.int64(stretches),
    )  # the others are where the kernels leave what later ones read
    return _Moving(g, deviation, g_own_mean), dict(zip(names, slopes, strict=True))


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
