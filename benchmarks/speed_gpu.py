"""How fast a training step is on an NVIDIA GPU, as ratios to the differentiated scan.

    python -m prssm.dynamics.engines.cuda.build
    python benchmarks/speed_gpu.py [--docs docs/studies/performance.md] [--out runs]

Takes some two minutes, mostly compilation. Prints tables, writes a record (versions, device,
commit) to runs/speed_gpu.json and, with --docs, the GPU section of the page. `--record
runs/speed_gpu.json --docs ...` writes the section from an earlier record, on any machine.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from speed_gpu_page import section
from speed_work import LARGE, REFERENCE, Work, make, objective

from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.cuda import library
from prssm.evaluation.jobs.provenance import provenance
from prssm.foundation.precision import double_precision
from prssm.models.prssm.elbo import Draws
from prssm.report.page_sections import with_section

RESTARTS = 64
REPEATS = 200
IN_A_ROW = 10
ENGINES = ("scan", "adjoint", "cuda", "cuda-single")  # the first is the oracle
WORKS = {"R": (REFERENCE, 1), "S": (LARGE, 1), f"{RESTARTS} restarts of R": (REFERENCE, RESTARTS)}


def value_and_gradient(
    work: Work, restarts: int, engine: str, draws: Draws = "step"
) -> tuple[Callable, tuple]:
    """The function and its arguments.

    Many restarts differ in their parameters and share data and noise, as in training. Parameters
    and data are plain arrays: what Python takes to walk through a model's tree, once for each call,
    is no part of an iteration, and training makes many iterations in one call.
    """
    models = [make(work, seed)[0] for seed in range(restarts)]
    plan = objective(work, engine, draws)
    model = models[0] if restarts == 1 else jax.tree.map(lambda *one: jnp.stack(one), *models)
    leaves, form = jax.tree.flatten(model)
    known, form_of_data = jax.tree.flatten(make(work)[1])

    def loss(leaves: list, known: list, key: Any) -> Any:
        data = jax.tree.unflatten(form_of_data, known)
        return -plan(jax.tree.unflatten(form, leaves), data, key)

    function = jax.value_and_grad(loss)
    if restarts > 1:
        function = jax.vmap(function, in_axes=(0, None, None))
    return function, (leaves, known, jax.random.key(0))


def compiled() -> dict[tuple[str, str], Callable[[], Any]]:
    """A call of every engine on every work.

    XLA compiles them side by side: one alone takes up to a minute.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {}
        for name, (work, restarts) in WORKS.items():
            for engine in ENGINES:
                function, arguments = value_and_gradient(work, restarts, engine)
                waiting[name, engine] = (
                    pool.submit(jax.jit(function).lower(*arguments).compile),
                    arguments,
                )
        return {
            case: _call(future.result(), arguments) for case, (future, arguments) in waiting.items()
        }


def _call(function: Callable, arguments: tuple) -> Callable[[], Any]:
    return lambda: function(*arguments)


def times(calls: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Milliseconds of many calls of each engine, in turns, so that a disturbance hits all alike.

    A turn is some calls in a row, as training makes them.
    """
    taken: dict[str, list[float]] = {engine: [] for engine in calls}
    jax.block_until_ready([call() for call in calls.values()])
    for _ in range(REPEATS // IN_A_ROW):
        for engine, call in calls.items():
            for _ in range(IN_A_ROW):
                begun = time.perf_counter()
                jax.block_until_ready(call())
                taken[engine].append(1e3 * (time.perf_counter() - begun))
    return taken


def agreement(name: str) -> list[dict[str, Any]]:
    """How far trajectories and gradients are from the oracle's.

    In both precisions with the same noise.
    """
    work = WORKS[name][0]
    rng = np.random.default_rng(1)
    batch = work.trajectories
    rows = (work.latent_dim, work.input_dim, work.latent_dim, work.latent_dim)
    x1, u, eps, g = (jnp.asarray(rng.normal(size=(work.horizon, row, batch))) for row in rows)
    dynamics = jax.jit(lambda model: model.transition.condition())(make(work)[0])

    def pulled(engine: str) -> Any:
        states, pull = jax.vjp(
            lambda dynamics, x1: rollout(dynamics, x1, u, eps=eps, engine=engine), dynamics, x1[0]
        )
        g_dynamics, g_x1 = pull(g)
        gp = g_dynamics.gp  # W and V are triangular
        return states, (
            gp.kernel,
            gp.zeta,
            jnp.tril(gp.white),
            gp.mean,
            jnp.tril(gp.spread),
            g_dynamics.process_var,
            g_x1,
        )

    oracle, *others = (
        jax.device_get(jax.jit(pulled, static_argnums=0)(engine)) for engine in ENGINES
    )
    return [
        {
            "work": name,
            "engine": engine,
            "states": difference(states, oracle[0]),
            "gradient": difference(slopes, oracle[1]),
        }
        for engine, (states, slopes) in zip(ENGINES[1:], others, strict=True)
    ]


def difference(got: Any, expected: Any) -> float:
    """The worst over all arrays of the distance from what is expected, relative to its size."""
    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    return max(
        float(np.linalg.norm(np.ravel(a - b)) / np.linalg.norm(np.ravel(b))) for a, b in pairs
    )


def measure() -> dict[str, Any]:
    record: dict[str, Any] = {
        "provenance": provenance(),
        "engine": library.description(),
        "rows": [],
    }
    begun = time.perf_counter()
    with double_precision():
        calls = compiled()
        record["compile_seconds"] = time.perf_counter() - begun
        for name, (work, restarts) in WORKS.items():
            for engine, taken in times({engine: calls[name, engine] for engine in ENGINES}).items():
                record["rows"].append(
                    {
                        "work": name,
                        "sizes": vars(work),
                        "restarts": restarts,
                        "engine": engine,
                        "min_ms": min(taken),
                        "median_ms": statistics.median(taken),
                    }
                )
        record["agreement"] = agreement("R") + agreement("S")
    record["seconds"] = time.perf_counter() - begun
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="also write the GPU section of this page")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--record", type=Path, help="measure nothing, take this record")
    options = parser.parse_args()
    if options.record:
        record = json.loads(options.record.read_text())
    else:
        record = measure()
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "speed_gpu.json").write_text(json.dumps(record, indent=1) + "\n")
    print(section(record))
    if options.docs:
        options.docs.write_text(with_section(options.docs.read_text(), "gpu", section(record)))


if __name__ == "__main__":
    main()
