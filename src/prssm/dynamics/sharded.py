"""The recursion with its trajectories split between devices.

Every device runs any engine on its share. The transition is whole on every device; the gradients of
its parameters are summed over the devices.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float

from prssm.dynamics.engines.choice import Engine, rollout
from prssm.dynamics.transition import Dynamics
from prssm.training.distributed.devices import split


def sharded_rollout(
    mesh: Mesh | None,
    dynamics: Dynamics,
    x1: Float[Array, "Dx B"],
    u: Float[Array, "T Du B"],
    eps: Float[Array, "T Dx B"],
    engine: Engine,
) -> Float[Array, "T Dx B"]:
    """As `rollout`, on the devices of `mesh`; None is one device.

    Where B is no multiple of the devices, the last trajectory is repeated and the copies are
    dropped.
    """
    if mesh is None:
        return rollout(dynamics, x1, u, eps=eps, engine=engine)
    trajectories = x1.shape[1]
    padded = partial(_repeat_last, count=-trajectories % mesh.size)
    specs = jax.tree.map(lambda _: PartitionSpec(), dynamics)
    if dynamics.gp.mean.ndim == 3:  # one function for each trajectory
        specs = eqx.tree_at(lambda d: d.gp.mean, specs, split(None, None))
        dynamics = eqx.tree_at(lambda d: d.gp.mean, dynamics, padded(dynamics.gp.mean))
    # Without the check of replication, as the engines' gradients by hand do not say what is the
    # same on all devices.
    run = jax.shard_map(
        partial(rollout, engine=engine),
        mesh=mesh,
        out_specs=split(None, None),
        check_vma=False,
        in_specs=(specs, split(None), split(None, None), split(None, None)),
    )
    return run(dynamics, padded(x1), padded(u), padded(eps))[..., :trajectories]


def _repeat_last(array: Array, count: int) -> Array:
    """`count` more trajectories, as healthy as the last one."""
    return (
        jnp.concatenate([array, jnp.repeat(array[..., -1:], count, axis=-1)], axis=-1)
        if count
        else array
    )
