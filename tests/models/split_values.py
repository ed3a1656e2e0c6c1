"""ELBO and gradient with the trajectories split between devices. Started by test_sharded_rollout with 4 virtual devices."""

import sys

import jax
import numpy as np

import prssm
from prssm.data.windows import sliding
from prssm.foundation.precision import double_precision
from prssm.models.elbo import Objective, TrainingData
from prssm.models.prssm_config import DEFAULT
from prssm.models.prssm_start import Starts
from prssm.training.devices import everywhere, mesh_of

RUNS = [(engine, devices) for engine in ("native", "scan", "adjoint") for devices in (1, 2, 3)]  # 3 does not divide 4


def values(engine: str, devices: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    record = prssm.Record(rng.normal(size=30), rng.normal(size=30))
    config = DEFAULT.replace(latent_dim=2, inducing=3, horizon=6, recognition_window=3, start="random", recognition_hidden=3)
    mesh = mesh_of(devices)
    with double_precision():
        model = Starts(config, [record]).create("free", 2)  # two restarts: the split axis is not the only one
        objective = Objective(6, 2, 2, 3, engine, "trajectory", mesh=mesh)
        data, key = everywhere((TrainingData.of(sliding([record], 6)), jax.random.key(1)), mesh)
        run = jax.jit(jax.vmap(jax.value_and_grad(objective), in_axes=(0, None, None)))
        leaves = jax.tree.leaves(run(everywhere(model, mesh), data, key))
        return {f"{engine} {devices} {index}": np.asarray(leaf) for index, leaf in enumerate(leaves)}


if __name__ == "__main__":
    np.savez(sys.argv[1], **{name: array for run in RUNS for name, array in values(*run).items()})
