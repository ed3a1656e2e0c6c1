"""Loads the native library, once, and says why where it cannot."""

import ctypes
import os
from functools import cache
from pathlib import Path

import jax

from prssm.dynamics.engines.native import build
from prssm.foundation.errors import OptionError

_ANEW = "python -m prssm.dynamics.engines.native.build builds it anew"
FORWARD = "prssm_rollout_forward"
BACKWARD = "prssm_rollout_backward"


def why_not() -> str | None:
    """Why the native engine cannot be used here, in one line; None where it can."""
    reason = _load(build.library_path())
    return reason if isinstance(reason, str) else None


def loaded() -> ctypes.CDLL:
    """The library, for callers that have asked `why_not` before."""
    found = _load(build.library_path())
    if isinstance(found, str):
        raise OptionError(f"the native engine is not available: {found}")
    return found


def description() -> str:
    """What `prssm info` says: which compiler, which processor, how many threads; or why not."""
    library = _load(build.library_path())
    if isinstance(library, str):
        return f"not available, JAX computes instead: {library}"
    compiler, variant = (
        getattr(library, name)().decode() for name in ("prssm_compiler", "prssm_variant")
    )
    return (
        f"built by {compiler}, running as {variant} on {threads()} threads "
        "(PRSSM_THREADS changes it)"
    )


def threads() -> int:
    """How many threads a rollout uses.

    The variable PRSSM_THREADS says it, else all processor cores of this process.
    """
    asked = os.environ.get("PRSSM_THREADS")
    if asked is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not asked.isdigit() or int(asked) < 1:
        raise OptionError(f"PRSSM_THREADS: expected a whole number of at least 1, got {asked!r}")
    return int(asked)


@cache
def _load(path: Path) -> ctypes.CDLL | str:
    """The library, with its functions registered in JAX, or why there is none."""
    if not path.is_file():
        if build.compiler() is None:
            looked_for = f"{', '.join(build.COMPILERS)} and the variable CXX"
            return f"not built, no C++ compiler found (looked for {looked_for})"
        return "not built; python -m prssm.dynamics.engines.native.build builds it"
    try:
        library = ctypes.CDLL(str(path))
        # Asked before it is registered: JAX checks this too, but would then not start at all.
        built = (library.prssm_interface_major(), library.prssm_interface_minor())
        here = build.interface_version()
        if built[0] != here[0] or built > here:
            return f"built for another jaxlib (its interface is {built}, here {here}); {_ANEW}"
        for name in (FORWARD, BACKWARD):
            jax.ffi.register_ffi_target(
                name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu"
            )
    except Exception as error:
        # Whatever it is, JAX's own adjoint does the work, and `prssm info` tells.
        return f"does not load: {str(error).splitlines()[0]}; {_ANEW}"
    library.prssm_compiler.restype = ctypes.c_char_p
    library.prssm_variant.restype = ctypes.c_char_p
    library.prssm_objective.restype = ctypes.c_double
    return library
