"""A loss of trajectories and its gradient, split between devices. Started by test_sharded_rollout
with 4 virtual devices.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from rollout_cases import make_inputs, make_transition

from prssm.dynamics.sharded import sharded_rollout
from prssm.foundation.precision import double_precision
from prssm.training.distributed.devices import mesh_of

ALONE = ("scan", 1)
SPLIT = [("native", 2), ("adjoint", 3)]  # of 4 trajectories, which 3 does not divide


def values(engine: str, devices: int) -> dict[str, np.ndarray]:
    mesh = mesh_of(devices)

    def loss(transition, draws, x1, u, eps):
        states = sharded_rollout(
            mesh, transition.condition().drawn(draws), x1, u=u, eps=eps, engine=engine
        )
        return jnp.sum(jnp.cos(jnp.arange(states.size)).reshape(states.shape) * states**2)

    with double_precision():
        transition = make_transition(2, 1, 3)
        draws = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 4)))
        run = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2, 3, 4)))
        leaves = jax.tree.leaves(run(transition, draws, *make_inputs(2, 1, 5, batch=4)))
        return {
            f"{engine} {devices} {index}": np.asarray(leaf) for index, leaf in enumerate(leaves)
        }


if __name__ == "__main__":
    np.savez(
        sys.argv[1],
        **{name: array for run in [ALONE, *SPLIT] for name, array in values(*run).items()},
    )
