"""What the command line keeps of what JAX compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from prssm.cli import compiled_code
from prssm.cli.main import main
from prssm.data.io.files import write_columns

JAX_VARIABLE = "JAX_COMPILATION_CACHE_DIR"


def command(*words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, in which nothing of JAX is set."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("JAX_")}
    return subprocess.run(
        [sys.executable, "-m", "prssm.cli.main", *words],
        cwd=folder,
        env=clean | variables,
        capture_output=True,
        text=True,
    )


FIT = ("fit", "plain.csv", "--method", "gp-narx", "--iterations", "2", "--quiet")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one command has kept, below `kept`, what it compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    u = np.sin(np.arange(60.0))
    write_columns(folder / "plain.csv", {"u": u, "y": np.convolve(u, [0.0, 0.5, 0.3])[:60]})
    first = command(*FIT, folder=folder, PRSSM_CACHE=str(folder / "kept"))
    assert (first.returncode, first.stderr) == (0, "")
    return folder


def test_a_second_command_finds_what_the_first_compiled(compiled: Path) -> None:
    variables = {"PRSSM_CACHE": str(compiled / "kept"), "JAX_LOG_COMPILES": "1"}
    second = command(*FIT, folder=compiled, **variables)
    assert second.returncode == 0
    assert "Persistent compilation cache hit" in second.stderr
    assert "Writing" not in second.stderr


def test_a_damaged_cache_is_no_trouble(compiled: Path, tmp_path: Path) -> None:
    kept = compiled / "kept"  # in its place: JAX finds nothing in a copy
    whole = shutil.copytree(kept, tmp_path / "whole")
    damaged = [path for path in kept.iterdir() if path.name.endswith("-cache")]
    assert damaged
    for path in damaged:
        path.write_bytes(b"no program")
    again = command(*FIT, folder=compiled, PRSSM_CACHE=str(kept))
    shutil.copytree(whole, kept, dirs_exist_ok=True)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize("word", ["off", "", "a-file/below"])
def test_no_cache_is_no_trouble(folder: Path, word: str) -> None:
    (folder / "a-file").touch()
    before = sorted(folder.iterdir())
    done = command("methods", folder=folder, PRSSM_CACHE=word, XDG_CACHE_HOME=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(folder.iterdir()) == before


def test_the_folder_is_the_users_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    environment: dict[str, str] = {}
    compiled_code.keep(environment)
    assert environment[JAX_VARIABLE] == str(tmp_path / "prssm" / "compiled")


def test_what_the_user_told_jax_stays(tmp_path: Path) -> None:
    environment = {JAX_VARIABLE: "mine", "PRSSM_CACHE": str(tmp_path)}
    compiled_code.keep(environment)
    assert environment == {JAX_VARIABLE: "mine", "PRSSM_CACHE": str(tmp_path)}


def test_a_caller_keeps_their_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(JAX_VARIABLE, raising=False)
    assert main(["datasets"]) == 0
    assert JAX_VARIABLE not in os.environ
