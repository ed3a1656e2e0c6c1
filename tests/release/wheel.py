"""Builds the sdist and the wheel, and looks into them."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = "prssm/dynamics/engines/native/"
LIBRARY = re.compile(rf"{ENGINE}rollout-[0-9a-f]{{12}}\.so")


def oldest_jaxlib(settings: str) -> str:
    """The pin of jaxlib for a build, from the lower bound in pyproject.toml.

    A library that was built with old headers loads under a newer jaxlib, but not the reverse.
    """
    needed = tomllib.loads(settings)["build-system"]["requires"]
    (bound,) = [word for word in needed if word.startswith("jaxlib>=")]
    return bound.replace(">=", "==")


def make(folder: Path) -> None:
    """Run `python -m build`: the sdist, and the wheel out of the sdist, into an empty folder."""
    for old in [*folder.glob("prssm-*.whl"), *folder.glob("prssm-*.tar.gz")]:
        old.unlink()
    with tempfile.TemporaryDirectory() as place:
        pins = Path(place) / "pins.txt"
        pins.write_text(oldest_jaxlib((ROOT / "pyproject.toml").read_text()) + "\n")
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
            env=os.environ | {"PIP_CONSTRAINT": str(pins)},
            check=True,
        )


def faults(folder: Path) -> list[str]:
    """What is wrong with the two files, a line each; empty where they are as they must be."""
    wheels = list(folder.glob("prssm-*.whl"))
    sources = list(folder.glob("prssm-*.tar.gz"))
    if len(wheels) != 1 or len(sources) != 1:
        return [f"expected one wheel and one sdist, found {len(wheels)} and {len(sources)}"]
    return wheel_faults(wheels[0]) + sdist_faults(sources[0])


def wheel_faults(path: Path) -> list[str]:
    """A wheel has one library, its sources (they name it), and the tag of its platform."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    libraries = [name for name in names if name.endswith(".so")]
    found = []
    if len(libraries) != 1 or not LIBRARY.fullmatch(libraries[0]):
        found.append(f"{path.name}: expected one native library, found {libraries}")
    if not any(name.startswith(ENGINE) and name.endswith(".cc") for name in names):
        found.append(f"{path.name}: the sources of the native engine are missing")
    if not re.search(r"-py3-none-(?!any)\w+\.whl$", path.name):
        found.append(f"{path.name}: expected the tag py3-none-<platform>")
    return found


def sdist_faults(path: Path) -> list[str]:
    """An sdist has what a build and the tests read, and nothing that was compiled."""
    with tarfile.open(path) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    needed = ("pyproject.toml", "hatch_build.py", "LICENSE", "CHANGELOG.md", "Makefile")
    found = [f"{path.name}: {name} is missing" for name in needed if name not in names]
    for folder in ("tests", "benchmarks", "studies", "examples", "docs"):
        if not any(name.startswith(f"{folder}/") for name in names):
            found.append(f"{path.name}: nothing of {folder}/ is there")
    made = (".so", ".o", ".prssm", ".mat", ".pyc")
    found += [f"{path.name}: {name} is no source" for name in names if name.endswith(made)]
    return found
