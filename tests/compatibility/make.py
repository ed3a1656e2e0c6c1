"""Makes the files that later versions must still read: a small model of each method and a stream.

They were made by commit 1b7ea1f, the last one before the modules moved into rooms, from a checkout
of it in the folder OLD:

    PYTHONPATH=OLD/src:tests/helpers python tests/compatibility/make.py tests/compatibility/files

Only names that were public at that commit are used. Do not run it again with a newer version over
the same files: they are there to be old. For a newer format, write to another folder beside it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from stored_text import model_text, stream_text

import prssm
from prssm.models.registry import method

ROWS = 40
SAMPLES = 2000  # of the expected runs, where a method samples

QUICK = {
    "latent_dim": 2,
    "inducing": 3,
    "samples": 2,
    "batch": 2,
    "horizon": 10,
    "recognition_window": 4,
    "recognition_hidden": 3,
    "iterations": 2,
    "restarts": 1,
}
REVARB = {"lags": 2, "inducing": 3, "fixed_iterations": 1, "iterations": 2}
WHOLE = QUICK | {"restarts": 2, "members": 2, "folds": 2, "fold_restarts": 1}
# File: method, preset, options.
CASES = {
    "constant": ("constant", "default", {}),
    "linear": ("linear", "default", {"order": 2}),
    "prssm-paper": ("prssm", "paper", QUICK),
    "prssm-quick": ("prssm", "default", QUICK | {"complexity": "free", "folds": 0}),
    "prssm-default": ("prssm", "default", WHOLE),
    "gp-narx": ("gp-narx", "default", {"lags": 2, "inducing": 3, "iterations": 2, "restarts": 1}),
    "nigp": ("nigp", "default", {"lags": 2, "iterations": 2, "rounds": 1}),
    "msgp": (
        "msgp",
        "default",
        {
            "lags": 2,
            "inducing": 3,
            "horizon": 10,
            "batch": 2,
            "iterations": 2,
            "start_iterations": 2,
        },
    ),
    "revarb1": ("revarb1", "default", REVARB),
    "revarb1-layers-2": ("revarb1", "default", REVARB | {"layers": 2}),
    "revarb2": ("revarb2", "default", REVARB),
    "ss-gp-ssm": (
        "ss-gp-ssm",
        "default",
        {
            "latent_dim": 2,
            "iterations": 4,
            "particles": 4,
            "n_basis_x": 2,
            "n_basis_u": 2,
            "posterior_samples": 2,
        },
    ),
}


def log(seed):
    """Inputs and outputs of a bent system of second order, rounded to read well."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=ROWS).round(3)
    y = np.zeros(ROWS)
    state = np.zeros(2)
    for t in range(ROWS):
        y[t] = state[0] + 0.05 * rng.normal()
        pushed = 0.8 * state[0] + 0.3 * np.tanh(state[1]) + u[t]
        state = np.array([pushed, 0.7 * state[1] - 0.3 * state[0]])
    return prssm.Record(u, y.round(3), 0.1)


def expected_run(model, record):
    """Mean and deviation of the free run, and whether it is sampled: then seeds differ."""
    run = model.simulate(record, samples=SAMPLES, seed=0)
    other = model.simulate(record, samples=SAMPLES, seed=1)
    sampled = not np.array_equal(run.mean, other.mean)
    return {
        "u": record.u.ravel().tolist(),
        "y": record.y.ravel().tolist(),
        "samples": SAMPLES if sampled else None,
        "mean": run.mean.ravel().tolist(),
        "std": run.std.ravel().tolist(),
    }


def make_model(name, folder):
    """A fitted model, its file as text and its free run over another record."""
    kind, preset, options = CASES[name]
    model = method(kind)(preset, **options).fit(log(seed=0))
    with tempfile.TemporaryDirectory() as scratch:
        path = model.save(Path(scratch) / "model.prssm")
        text = model_text(path)
    write(folder / f"{name}.json", text | {"expected": expected_run(model, log(seed=1))})


def make_stream(folder):
    """Two experiments in CSV files, converted by the command."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        files = []
        for seed in (0, 1):
            record = log(seed)
            rows = [
                f"{0.1 * t:.1f},{u:.3f},{y:.3f}"
                for t, (u, y) in enumerate(zip(record.u[:, 0], record.y[:, 0], strict=True))
            ]
            files.append(scratch / f"log{seed}.csv")
            files[-1].write_text("\n".join(["t,valve,flow", *rows]) + "\n")
        columns = ["-u", "valve", "-y", "flow", "--time", "t"]
        command = [sys.executable, "-m", "prssm.cli.main", "convert", *map(str, files)]
        subprocess.run([*command, *columns, "--out", str(scratch / "stream")], check=True)
        text = stream_text(scratch / "stream")
    write(folder / "stream.json", text)


def write(path, text):
    """JSON with a line for each array."""
    parts = []
    for part, content in text.items():
        if isinstance(content, dict):
            lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
            parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n}")
        else:
            parts.append(f"{json.dumps(part)}: {json.dumps(content)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    make_stream(folder)
    for name in CASES:
        make_model(name, folder)
        print(name, (folder / f"{name}.json").stat().st_size)


if __name__ == "__main__":
    main()
