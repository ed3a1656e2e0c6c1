"""The measurements of benchmarks/speed.py, each a plain dictionary for the record."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from speed_work import LARGE, REFERENCE, Work, make, objective, value_and_gradient

from prssm.data.scaling import Scaler
from prssm.dynamics.engines.choice import rollout
from prssm.foundation.precision import double_precision
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.stepping.stepper import Stepper

WORKS = {"R": REFERENCE, "S": LARGE}
REPEATS = {"R": 25, "S": 8}
SINGLE = "float32"
DOUBLE = "float64"
ROWS = [
    ("batch-first", SINGLE),
    ("scan", SINGLE),
    ("adjoint", SINGLE),
    ("native", SINGLE),
    ("native-single", DOUBLE),
    ("batch-first", DOUBLE),
    ("scan", DOUBLE),
    ("adjoint", DOUBLE),
    ("native", DOUBLE),
]
"""Engine and type of the parameters.

`native-single` keeps float64 parameters and computes the recursion in float32.
"""


def _scope(kind: str) -> AbstractContextManager[None]:
    return double_precision() if kind == DOUBLE else nullcontext()


def _seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - begun


def _figures(seconds: list[float]) -> dict[str, float]:
    return {"min_ms": 1e3 * min(seconds), "median_ms": 1e3 * statistics.median(seconds)}


def iterations(name: str) -> list[dict[str, Any]]:
    """One value and gradient by every engine, in turns, so that a disturbance hits all alike."""
    calls = []
    taken = [[] for _ in ROWS]
    for engine, kind in ROWS:
        with _scope(kind):
            model, data = make(WORKS[name])
            function = value_and_gradient(WORKS[name], engine)
            key = jax.random.key(0)
            calls.append(partial(function, model, data, key))
            compile_seconds = _seconds(calls[-1])
            print(f"  {name} {engine} {kind}: compiled in {compile_seconds:.1f} s", flush=True)
    for _ in range(REPEATS[name]):
        for (_, kind), call, seconds in zip(ROWS, calls, taken, strict=True):
            with _scope(kind):
                seconds.append(_seconds(call))
    return [
        {"work": name, "engine": engine, "parameters": kind, **_figures(seconds)}
        for (engine, kind), seconds in zip(ROWS, taken, strict=True)
    ]


def shared_inducing(name: str) -> list[dict[str, Any]]:
    """Kernel and inducing inputs of each dimension against one set for all.

    In turns, by `native-single`.
    """
    rows = []
    for draws in ("step", "trajectory"):
        with double_precision():
            function = value_and_gradient(WORKS[name], "native-single", draws)
            key = jax.random.key(0)
            works = [make(WORKS[name], shared=shared) for shared in (False, True)]
            calls = [partial(function, *work, key) for work in works]
            for call in calls:
                _seconds(call)
            taken = [[_seconds(call) for call in calls] for _ in range(REPEATS[name])]
        own, shared = (_figures(list(seconds)) for seconds in zip(*taken, strict=True))
        rows.append({"work": name, "draws": draws, "own": own, "shared": shared})
    return rows


def agreement(name: str) -> list[dict[str, Any]]:
    """Largest difference of trajectories and of gradients from the oracle's.

    Relative to their largest entry.
    """
    work = WORKS[name]
    with double_precision():
        model, _ = make(work)
        shapes = [
            (work.latent_dim, work.trajectories),
            *(
                (work.horizon, size, work.trajectories)
                for size in (work.input_dim, work.latent_dim)
            ),
        ]
        x1, u, eps = (jax.random.normal(jax.random.key(i), shape) for i, shape in enumerate(shapes))

        def both(transition: Any, engine: str) -> tuple:
            def total(transition: Any) -> tuple:
                states = rollout(transition.condition(), x1, u, eps=eps, engine=engine)
                return jnp.sum(jnp.sin(states)), states

            gradient, states = jax.grad(total, has_aux=True)(transition)
            return states, gradient

        run = jax.jit(both, static_argnames="engine")
        oracle = run(model.transition, "scan")
        return [
            {"work": name, "engine": engine}
            | {
                part: max(
                    _difference(a, b)
                    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
                )
                for part, got, expected in zip(
                    ("states", "gradient"), run(model.transition, engine), oracle, strict=True
                )
            }
            for engine in ("adjoint", "native", "native-single")
        ]


def _difference(got: jax.Array, expected: jax.Array) -> float:
    return float(jnp.max(jnp.abs(got - expected)) / jnp.max(jnp.abs(expected)))


def growth() -> list[dict[str, Any]]:
    """The same with more steps, samples and sub-trajectories."""
    rows = []
    for size in ("horizon", "samples", "batch"):
        for factor in (1, 2, 4):
            work = replace(REFERENCE, **{size: factor * getattr(REFERENCE, size)})
            with double_precision():
                model, data = make(work)
                function = value_and_gradient(work, "native")
                key = jax.random.key(0)
                call = partial(function, model, data, key)
                _seconds(call)
                seconds = [_seconds(call) for _ in range(15)]
            rows.append({"size": size, "factor": factor, **_figures(seconds)})
    return rows


def restarts(count: int = 8) -> dict[str, Any]:
    """Many models at once, as in training."""
    with double_precision():
        model, data = make(REFERENCE)
        many = jax.tree.map(lambda leaf: jnp.stack([leaf] * count), model)
        plan = objective(REFERENCE, "native")
        function = jax.jit(
            jax.vmap(jax.value_and_grad(lambda model, key: -plan(model, data, key)), (0, None))
        )
        _seconds(lambda: function(many, jax.random.key(0)))
        return {
            "count": count,
            **_figures([_seconds(lambda: function(many, jax.random.key(0))) for _ in range(8)]),
        }


def free_run(steps: int = 10_000, samples: int = 100) -> dict[str, Any]:
    """A simulation with error bars.

    From the recorded inputs to mean, deviation and drawn measurements.
    """
    with double_precision():
        model, _ = make(REFERENCE)
        mixture = Mixture(jax.tree.map(lambda leaf: leaf[None], model), 16, "step")
        u = np.zeros((steps, REFERENCE.input_dim))
        y = np.zeros((16, REFERENCE.output_dim))
        _seconds(lambda: mixture.run(u, y, samples, seed=0).mean)
        return {
            "steps": steps,
            "samples": samples,
            **_figures(
                [_seconds(lambda: mixture.run(u, y, samples, seed=0).mean) for _ in range(5)]
            ),
        }


def one_step() -> list[dict[str, Any]]:
    """One step for a controller, as `model.stepper()` gives it.

    NumPy in, NumPy out, physical units.
    """
    rows = []
    for name, work in WORKS.items():
        with double_precision():
            model, _ = make(work)
            mixture = Mixture(jax.tree.map(lambda leaf: leaf[None], model), 16, "step")
        units = [
            np.full(size, value)
            for size in (work.input_dim, work.output_dim)
            for value in (0.0, 1.0)
        ]
        step = Stepper(mixture, Scaler(*units))
        x = np.zeros(work.latent_dim)
        u = np.zeros(work.input_dim)
        seconds = [_seconds(partial(step, x, u)) for _ in range(3000)][100:]
        rows.append(
            {
                "work": name,
                "min_us": 1e6 * min(seconds),
                "median_us": 1e6 * statistics.median(seconds),
            }
        )
    return rows


def memory_here(engine: str) -> dict[str, Any]:
    """The peak of this whole process after a full-gradient pass over a long horizon."""
    work = replace(REFERENCE, horizon=10_000)
    with double_precision():
        model, data = make(work)
        seconds = _seconds(lambda: value_and_gradient(work, engine)(model, data, jax.random.key(0)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "linux" else 2**30
    )
    return {
        "engine": engine,
        "steps": work.horizon,
        "trajectories": work.trajectories,
        "peak_gib": peak,
        "seconds": seconds,
    }


def first_iteration_here() -> None:
    """What a user waits for before training moves."""
    work: Work = REFERENCE
    with double_precision():
        model, data = make(work)
        jax.block_until_ready(value_and_gradient(work, "auto")(model, data, jax.random.key(0)))


def in_new_process(what: str, *words: str) -> dict[str, Any]:
    """`python speed.py --only ...`: a fresh process, timed from outside."""
    command = [sys.executable, str(Path(__file__).with_name("speed.py")), "--only", what, *words]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return {
        "process_seconds": time.perf_counter() - begun,
        **json.loads(done.stdout.splitlines()[-1]),
    }
