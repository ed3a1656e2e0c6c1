"""CasADi, ONNX and JAX: time of a step, size, and how far they are from the plain run.

python benchmarks/export_graphs.py                a table for a model of the default sizes
python benchmarks/export_graphs.py --fuzz 1000    and the largest disagreement over random models

Times are CPU time, the best of some rounds. A disagreement is what `export_fuzz` says.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import onnxruntime
from export import SAMPLES, best, default_model
from export_fuzz import ROWS, random_case
from fitted_models import record_for

import prssm
from prssm.export import draws as drawing
from prssm.export.casadi.functions import functions_of
from prssm.export.describing import describe
from prssm.export.description import Description
from prssm.export.onnx.graphs import graphs_of
from prssm.export.reference import run
from prssm.foundation.precision import double_precision
from prssm.models.estimator import Estimator

_STEPS = 200
Found = tuple[np.ndarray, np.ndarray]


def session(content: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # Beyond basic, onnxruntime fuses operators at the cost of digits.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(content, options)


def by_onnx(description: Description, u: np.ndarray, y: np.ndarray, samples: int) -> Found:
    """A free run by the graphs `start` and `run`, in double precision."""
    graphs = graphs_of(description, samples=samples, seed=0, kind=np.float64)
    rows = description.window
    first = {"y": y[:rows], "u": u[:rows]} if description.inputs else {"y": y[:rows]}
    (state,) = session(graphs.start.SerializeToString()).run(None, first)
    given = {column.identifier: u[:, at] for at, column in enumerate(description.inputs)}
    given = given or {"steps_to_run": np.zeros(len(u))}
    inputs = {**_begun(description, state, samples), **given}
    found = session(graphs.run.SerializeToString()).run(None, inputs)
    outputs = len(description.outputs)
    return np.stack(found[-2 * outputs : -outputs], axis=1), np.stack(found[-outputs:], axis=1)


def _begun(description: Description, state: np.ndarray, samples: int) -> dict[str, np.ndarray]:
    """What a run begins with."""
    found = {"state": state}
    if samples:
        found["time"] = np.array(0)
        if description.seen is not None:
            found["far"] = np.array(0.0, state.dtype)
    return found


def by_casadi(description: Description, u: np.ndarray, y: np.ndarray, samples: int) -> Found:
    """The same by `start` and `horizon`."""
    functions = functions_of(description, samples=samples, horizon=len(u))
    assert functions.horizon is not None
    rows = description.window
    state = functions.start(y[:rows], u[:rows])
    _, *told = functions.horizon(state, *(column[None] for column in u.T))
    found = [part.full()[0] for part in told]
    outputs = len(description.outputs)
    return np.stack(found[:outputs], axis=1), np.stack(found[outputs:], axis=1)


WAYS = {"CasADi": by_casadi, "ONNX": by_onnx}


def disagreements(seed: int) -> dict[str, float]:
    """Of each target with the plain run, for the random model of this seed."""
    _, model = random_case(seed)
    description = describe(model)
    u, y = record_for(model, rows=ROWS, seed=seed)
    samples = 2 * len(description.members) + 1
    expected = run(description, u, y, drawing.fixed(description, samples))
    assert expected.std is not None
    unit = model.scaler_.y_std
    size = max(1.0, float(np.abs(expected.mean / unit).max()))
    worst = {}
    for name, way in WAYS.items():
        mean, std = way(description, u, y, samples)
        apart = max(np.abs(mean - expected.mean).max(axis=0) / unit)
        wide = max(np.abs(std - expected.std).max(axis=0) / unit)
        worst[name] = float(max(apart, wide)) / size
    return worst


def rows(model: Estimator) -> list[tuple[str, float, int | None]]:
    """Words, microseconds a step and bytes of each form."""
    u, y = record_for(model, rows=_STEPS)
    found = []
    for samples in (0, SAMPLES):
        words = f"{samples} samples" if samples else "mean"
        description = describe(model)
        functions = functions_of(description, samples=samples, horizon=_STEPS)
        state = functions.start(y[: description.window], u[: description.window])
        took = best(lambda f=functions, s=state: f.horizon(s, u.T), _STEPS)
        found.append((f"CasADi, {words}", took, _size(model, "casadi", samples)))
        for kind in (np.float64, np.float32):
            took = best(_onnx_run(description, u, y, samples=samples, kind=kind), _STEPS)
            found.append(
                (f"ONNX run, {words}, {kind.__name__}", took, _size(model, "onnx", samples))
            )
        with double_precision():
            jitted = model.as_jax(samples=samples)
            first = jitted.start(jitted.system, u, y)
            free_run = jax.jit(lambda s, u, f=jitted: f.simulate(f.system, s, u))
            took = best(lambda r=free_run, s=first: jax.block_until_ready(r(s, u)), _STEPS)
        found.append((f"JAX, {words}", took, None))
    return found


def _onnx_run(
    description: Description, u: np.ndarray, y: np.ndarray, *, samples: int, kind: type
) -> Callable[[], object]:
    graphs = graphs_of(description, samples=samples, seed=0, kind=kind)
    start = session(graphs.start.SerializeToString())
    window = description.window
    first = {"y": y[:window].astype(kind), "u": u[:window].astype(kind)}
    (state,) = start.run(None, first)
    inputs = _begun(description, state, samples)
    for at, column in enumerate(description.inputs):
        inputs[column.identifier] = u[:, at].astype(kind)
    free_run = session(graphs.run.SerializeToString())
    return lambda: free_run.run(None, inputs)


def _size(model: Estimator, to: str, samples: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        path = prssm.export(model, to=to, out=Path(name) / "plant", samples=samples)
        files = [path] if path.is_file() else [path / "run.onnx"]
        return sum(os.path.getsize(file) for file in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fuzz", type=int, default=0, help="how many random models to compare")
    parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
    arguments = parser.parse_args()
    if not arguments.fuzz:
        print("| form | microseconds a step | kB |\n|---|---|---|")
        for words, took, size in rows(default_model()):
            print(f"| {words} | {took:.3g} | {'-' if size is None else f'{size / 1000:.0f}'} |")
        return
    seeds = range(arguments.first, arguments.first + arguments.fuzz)
    worst = [disagreements(seed) for seed in seeds]
    for name in WAYS:
        values = np.array([one[name] for one in worst])
        at = int(np.argmax(values))
        print(
            f"{name}: largest {values[at]:.1e} (seed {seeds[at]}), median {np.median(values):.1e}"
        )


if __name__ == "__main__":
    main()
