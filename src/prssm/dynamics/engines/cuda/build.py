"""Compiles the CUDA engine: `python -m prssm.dynamics.engines.cuda.build`, where the GPU is.

Extra words go to the compiler; on a machine without a GPU say for which one, as in `-arch=sm_90`.
The same sources can be compiled for the CPU (`build_emulated`), where they run slowly: that is how
they are tested without a GPU.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from prssm.dynamics.engines.native.build import BuildError, compiler, header_folder, main, run

HERE = Path(__file__).parent
FLAGS = (
    "-std=c++17",
    "-O3",
    "-shared",
    "-Xcompiler",
    "-fPIC",
    "--cudart",
    "static",
    # Single precision is then right but for the last bit, and the code is much shorter.
    "-prec-div=false",
    "-prec-sqrt=false",
)
EMULATED_FLAGS = (
    "-std=c++17",
    "-O0",
    "-shared",
    "-fPIC",
    "-Wno-unknown-pragmas",
    "-DPRSSM_EMULATED",
    "-x",
    "c++",
)


def library_path() -> Path:
    """Where the library for exactly these sources lies, if it was built.

    An older library has another name and is never taken for it.
    """
    sources = sorted([*HERE.glob("*.h"), *HERE.glob("*.cu")])
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return HERE / f"rollout-{digest.hexdigest()[:12]}.so"


def cuda_compiler() -> str | None:
    """nvcc: the variable NVCC, or from the search path, or from CUDA's usual folder."""
    places = (
        os.environ.get("NVCC"),
        "nvcc",
        os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc"),
    )
    return next(
        (found for found in (shutil.which(place) for place in places if place) if found), None
    )


def build(extra: tuple[str, ...] = ()) -> Path:
    """Compile for the GPU of this machine, or as `extra` says.

    The library of older sources is removed.
    """
    nvcc = cuda_compiler()
    if nvcc is None:
        raise BuildError(
            "no CUDA compiler found (looked for nvcc, the variables NVCC and CUDA_HOME)"
        )
    architecture = (
        () if any(word.startswith(("-arch", "-gencode")) for word in extra) else ("-arch=native",)
    )
    target = library_path()
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".building-") as folder:
        linked = Path(folder) / target.name
        _compile([nvcc, *FLAGS, *architecture, *extra], linked)
        for old in HERE.glob("rollout-*.so"):
            old.unlink()
        linked.replace(target)
    return target


def build_emulated(target: Path) -> Path:
    """Compile the kernels for the CPU, for tests."""
    command = compiler()
    if command is None:
        raise BuildError("no C++ compiler found")
    _compile([*command, *EMULATED_FLAGS], target)
    return target


def _compile(command: list[str], target: Path) -> None:
    run([*command, "-isystem", str(header_folder()), "rollout.cu", "-o", str(target)], HERE)


if __name__ == "__main__":
    sys.exit(main(build))
