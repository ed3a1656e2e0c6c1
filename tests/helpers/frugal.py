"""Tests compile much and compute little, in as many processes as there are cores."""

import importlib.util
import mmap
import os
from pathlib import Path

# Code for fused operations that is quick to run takes XLA twice as long to make.
_FLAG = "xla_cpu_use_fusion_emitters"


def ask() -> None:
    """Call before NumPy and JAX are imported; processes that a test starts inherit it.

    XLA skips what pays only in long runs. The threads of OpenBLAS wait for each other by spinning,
    which takes small matrices fifty times the time of one thread where the cores are busy.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    flags = os.environ.get("XLA_FLAGS", "")
    if _FLAG not in flags and _known():
        os.environ["XLA_FLAGS"] = f"{flags} --{_FLAG}=false".strip()


def _known() -> bool:
    """XLA ends the process at a flag that it does not know, so its library is searched first."""
    found = importlib.util.find_spec("jaxlib")
    folders = (found.submodule_search_locations or []) if found else []
    libraries = [path for folder in folders for path in Path(folder).glob("libjax_common.*")]
    return any(_holds(path, _FLAG.encode()) for path in libraries)


def _holds(path: Path, text: bytes) -> bool:
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        with content:
            return content.find(text) >= 0
