"""Which code, on which machine, from which data, made a result."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from prssm.data.record import Record
from prssm.foundation.fingerprint import fingerprint
from prssm.foundation.version import __version__

PACKAGE_FOLDER = Path(__file__).parents[2]
PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy", "scipy")
_GIT_SECONDS = 10


@cache
def provenance() -> dict[str, Any]:
    """Versions, device, machine and commit of this process, as plain values for a record."""
    return {"versions": versions(), "device": device(), "machine": machine(), "commit": commit()}


def data_checksum(records: Sequence[Record]) -> str:
    """Tells whether two results used the same numbers: equal data have equal checksums."""
    return fingerprint(array for record in records for array in (record.u, record.y))[:16]


def versions() -> dict[str, str]:
    installed = {"prssm": __version__, "python": platform.python_version()}
    return installed | {name: metadata.version(name) for name in PACKAGES}


def device() -> str:
    """What JAX computes on, e.g. 'cpu' or 'gpu: NVIDIA H200'."""
    import jax

    first = jax.devices()[0]
    kind = first.device_kind
    return first.platform if kind.lower() == first.platform else f"{first.platform}: {kind}"


def machine() -> str:
    """The processor and how many cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_processor()}, {cores} cores, {platform.system()}"


def _processor() -> str:
    description = Path("/proc/cpuinfo")
    if sys.platform == "linux" and description.exists():
        for line in description.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of the source tree that this package runs from, with '+' if files differ.

    None if the package is installed.

    A copy of the tree without its repository (on a GPU machine, say) is told the commit by the
    variable PRSSM_COMMIT.
    """
    if "PRSSM_COMMIT" in os.environ:
        return os.environ["PRSSM_COMMIT"]
    package = PACKAGE_FOLDER
    # A virtual environment may lie inside somebody else's repository: only a tracked package has a
    # commit of its own.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    head = _git(package, "rev-parse", "HEAD")
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", ".")
    return None if head is None else head + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
