"""What a command waits for before it does its work: nothing that the work does not need."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from stored_text import write_model

from prssm.data.io.files import write_columns

FILES = Path(__file__).parents[1] / "compatibility" / "files"
# Modules that take longer to import than a simulation to run.
SLOW = ("matplotlib", "optax", "scipy.optimize", "scipy.signal", "scipy.stats")
CODE = """
import json, sys
from prssm.cli.main import main
code = main(sys.argv[1:])
from jax._src.xla_bridge import backends_are_initialized
print(json.dumps([code, backends_are_initialized(), [*sys.modules]]))
"""


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_a_simulation_imports_little_and_leaves_jax_asleep(tmp_path: Path, preset: str) -> None:
    stored = json.loads((FILES / f"prssm-{preset}.json").read_text(encoding="utf-8"))
    write_model(stored, tmp_path / "model.prssm")
    names = [*stored["header"]["inputs"], *stored["header"]["outputs"]]
    noise = np.random.default_rng(0).normal(size=(60, len(names)))
    write_columns(tmp_path / "next.csv", dict(zip(names, noise.T, strict=True)))
    code, awake, modules = _run("simulate", "model.prssm", "next.csv", folder=tmp_path)
    assert code == 0
    assert not awake
    assert not [name for name in SLOW if name in modules]


def test_compiled_training_leaves_jax_asleep(folder: Path) -> None:
    """The level `linear` is fitted and `free` is trained, both without JAX's compiler."""
    words = ("--restarts", "1", "--iterations", "2", "--complexity", "free", "--folds", "2")
    code, awake, modules = _run("fit", "plain.csv", "--quiet", *words, folder=folder)
    assert code == 0
    assert not awake
    assert "optax" not in modules


def _run(*words: str, folder: Path) -> tuple[int, bool, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return tuple(json.loads(done.stdout.splitlines()[-1]))
