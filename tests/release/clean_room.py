"""A new virtual environment in which no compiler can be found, and what a user does there."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
FIRST_MODEL = Path(__file__).with_name("first_model.py")
# what would lead to a compiler, or to a package that is not the wheel
_LEFT_OUT = ("CC", "CXX", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


class CleanRoom:
    """The environment in `folder`, made by the Python that is named."""

    def __init__(self, folder: Path, python: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        self.bin = folder / "bin"
        self._environment = {
            name: value for name, value in os.environ.items() if name not in _LEFT_OUT
        } | {"PATH": str(self.bin)}
        there = [name for name in COMPILERS if shutil.which(name, path=str(self.bin))]
        if there:
            raise RuntimeError(f"expected no compiler, found {', '.join(there)}")

    def run(self, *words: str | Path) -> str:
        """Output of a program of the environment; where it fails, all that it said."""
        command = [str(self.bin / words[0]), *map(str, words[1:])]
        done = subprocess.run(
            command, cwd=self.bin.parent, env=self._environment, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, wheel: Path, others: Sequence[str]) -> None:
        self.run("python", "-m", "pip", "install", "--quiet", str(wheel.resolve()), *others)


def try_out(room: CleanRoom) -> list[str]:
    """What a user sees: a model by the native engine, then one by JAX without the library."""
    said = room.run("python", FIRST_MODEL).splitlines()
    library = Path(said[0])
    aside = library.with_suffix(".aside")
    library.rename(aside)
    try:
        shown = " ".join(room.run("prssm", "info").split())
    finally:
        aside.rename(library)
    reason = re.search(r"not available, JAX computes instead: not built, no C\+\+ compiler", shown)
    if reason is None:
        raise RuntimeError(f"without its library `prssm info` does not say why: {shown}")
    return [*said[1:], "without the library `prssm info` says why, and JAX computes"]
