"""Compiles the native engine: `python -m prssm.dynamics.engines.native.build`.

The package's own build (hatch_build.py) runs this file where nothing is installed yet, so only the
standard library is used. The kernel is compiled for each kind of processor and the right copy is
chosen when it runs, so a wheel suits all machines of a platform.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi")
_X86 = {"avx2": ("-mavx2", "-mfma"), "avx512": ("-mavx512f", "-mavx512dq", "-mfma")}
SECONDS = 300


class BuildError(Exception):
    """Why there is no native engine, in one line."""


@cache
def library_path() -> Path:
    """Where the library for exactly these sources lies, if it was built.

    An older library has another name and is never taken for it. The sources are read once: this is
    asked before every call of the library.
    """
    sources = sorted([*HERE.glob("*.h"), *HERE.glob("*.cc")])
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return HERE / f"rollout-{digest.hexdigest()[:12]}.so"


def compiler() -> list[str] | None:
    """The words that call the C++ compiler: the variable CXX, or the first that is installed."""
    if os.environ.get("CXX"):
        words = shlex.split(os.environ["CXX"])
        return words if shutil.which(words[0]) else None
    found = next((path for path in map(shutil.which, COMPILERS) if path), None)
    return [found] if found else None


def header_folder() -> Path:
    """JAX's headers for foreign functions, which come with jaxlib."""
    spec = find_spec("jaxlib")
    folder = Path(str(spec.origin)).parent / "include" if spec else Path()
    if not (folder / "xla/ffi/api/ffi.h").is_file():
        raise BuildError("jaxlib with its headers is not installed")
    return folder


def interface_version() -> tuple[int, int]:
    """The version of JAX's interface for foreign functions that these headers describe."""
    text = (header_folder() / "xla/ffi/api/c_api.h").read_text()
    major, minor = (
        re.search(rf"#define XLA_FFI_API_{part} (\d+)", text) for part in ("MAJOR", "MINOR")
    )
    if major is None or minor is None:
        raise BuildError("jaxlib's headers do not tell their version")
    return int(major[1]), int(minor[1])


def build(extra: tuple[str, ...] = ()) -> Path:
    """Compile and link; the library of older sources is removed.

    `extra` flags are for sanitizers.
    """
    command = compiler()
    if command is None:
        raise BuildError(
            f"no C++ compiler found (looked for {', '.join(COMPILERS)} and the variable CXX)"
        )
    command += [*FLAGS, *extra, "-isystem", str(header_folder())]
    variants = {"baseline": (), **(_X86 if platform.machine() in ("x86_64", "AMD64") else {})}
    target = library_path()
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".building-") as folder:
        jobs = {
            f"{name}.o": ["-c", "kernel.cc", f"-DPRSSM_VARIANT={name}", *flags]
            for name, flags in variants.items()
        }
        for name in ("rollout", "training", "free_run", "network", "damped_step"):
            jobs[f"{name}.o"] = ["-c", f"{name}.cc"]
        objects = [str(Path(folder) / name) for name in jobs]
        compilations = [
            [*command, *words, "-o", path]
            for words, path in zip(jobs.values(), objects, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, compilations))
        linked = Path(folder) / target.name
        run([*command, "-shared", *objects, "-o", str(linked), "-pthread"])
        for old in HERE.glob("rollout-*.so"):
            old.unlink()
        linked.replace(target)
    return target


def run(command: list[str], folder: Path = HERE) -> None:
    """A command of the compiler, in a folder of sources; its first mistake is the error's line."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        mistakes = (
            [line for line in done.stderr.splitlines() if "error" in line]
            or done.stderr.splitlines()
            or ["failed"]
        )
        raise BuildError(f"{command[0]}: {mistakes[0]}")


def main(build: Callable[[tuple[str, ...]], Path] = build) -> int:
    """Build with the words of the command line, and say what came of it."""
    try:
        print(f"built {build(tuple(sys.argv[1:]))}")
    except BuildError as error:
        print(f"not built: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
