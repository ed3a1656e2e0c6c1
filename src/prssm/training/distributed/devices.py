"""One training run on many devices.

Parameters are everywhere, trajectories are split between the devices. All devices form one axis.
Random numbers do not depend on how an array is split, so a run on any number of devices is the same
run up to rounding.
"""

from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from prssm.foundation.errors import OptionError
from prssm.training.distributed import store

AXIS = "trajectories"
Devices = int | str | None  # how many, 'auto' for all, None for one without any of this


def mesh_of(devices: Devices) -> Mesh | None:
    """The devices that take part, the same number of every process.

    None where there is nothing to split.
    """
    if devices is None and store.count() == 1:
        return None
    local = jax.local_devices()
    available = len(jax.devices())
    members = store.count()
    if devices in (None, "auto"):
        devices = available
    if not isinstance(devices, int) or isinstance(devices, bool):
        raise OptionError(f"devices: expected a whole number or 'auto', got {devices!r}")
    if not 1 <= devices <= available:
        raise OptionError(
            f"devices: expected 1 to {available}, what JAX sees here ({local[0].platform}), got "
            f"{devices}"
        )
    if devices % members:
        raise OptionError(f"devices: expected a multiple of the {members} processes, got {devices}")
    each = [
        [device for device in jax.devices() if device.process_index == process]
        for process in range(members)
    ]
    if min(map(len, each)) < devices // members:
        raise OptionError(
            f"devices: expected {devices // members} of each process, but one has "
            f"{min(map(len, each))}"
        )
    chosen = [device for own in each for device in own[: devices // members]]
    return (
        None if len(chosen) == 1 else Mesh(np.array(chosen), (AXIS,), axis_types=(AxisType.Auto,))
    )


def split(*leading: None) -> PartitionSpec:
    """Of an array whose last axis counts trajectories; a None for each axis before it."""
    return PartitionSpec(*leading, AXIS)


def everywhere(tree: Any, mesh: Mesh | None) -> Any:
    """The same arrays with a whole copy on every device; all processes must bring equal ones."""
    if mesh is None:
        return tree
    whole = NamedSharding(mesh, PartitionSpec())
    return jax.tree.map(
        lambda leaf: leaf if getattr(leaf, "sharding", None) == whole else _placed(leaf, whole),
        tree,
    )


def _placed(leaf: Any, sharding: NamedSharding) -> jax.Array:
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(
            _placed(jax.random.key_data(leaf), sharding), impl=jax.random.key_impl(leaf)
        )
    values = np.asarray(leaf)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def kept_everywhere(tree: Any, mesh: Mesh | None) -> Any:
    """For compiled code: results that every device holds whole."""
    if mesh is None:
        return tree
    return jax.lax.with_sharding_constraint(tree, NamedSharding(mesh, PartitionSpec()))
