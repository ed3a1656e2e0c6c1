"""Loads the CUDA engine's library, once, and says why where it cannot."""

import ctypes
from functools import cache
from pathlib import Path

import jax

from prssm.dynamics.engines.cuda import build
from prssm.dynamics.engines.native.build import interface_version

_ANEW = "python -m prssm.dynamics.engines.cuda.build builds it anew"
FORWARD = "prssm_cuda_forward"
BACKWARD = "prssm_cuda_backward"
WHITEN = "prssm_cuda_whiten"
UNWHITEN = "prssm_cuda_unwhiten"
RECOGNISE = "prssm_cuda_recognise"
UNRECOGNISE = "prssm_cuda_unrecognise"
FUNCTIONS = (FORWARD, BACKWARD, WHITEN, UNWHITEN, RECOGNISE, UNRECOGNISE)


def why_not() -> str | None:
    """Why the CUDA engine cannot be used here, in one line; None where it can."""
    loaded = load(build.library_path())
    return loaded if isinstance(loaded, str) else None


def description() -> str:
    """For `prssm info`: built by which compiler, or why it is not there."""
    library = load(build.library_path())
    if isinstance(library, str):
        return f"not available: {library}"
    return f"built by {library.prssm_cuda_compiler().decode()}"


def slice_trajectories(
    dx: int, du: int, points: int, spread: bool, own_mean: bool, number_size: int
) -> int:
    """The number of trajectories whose gradients are summed together.

    0 where the GPU's shared memory is too small.
    """
    library = load(build.library_path())
    if isinstance(library, str):
        raise RuntimeError(f"the CUDA library is {library}")
    return int(library.prssm_slice_trajectories(dx, du, points, spread, own_mean, number_size))


def can_whiten(points: int) -> bool:
    """Whether there is a library that can factor matrices of this size."""
    library = load(build.library_path())
    return not isinstance(library, str) and points <= library.prssm_largest_matrix()


@cache
def load(path: Path, platform: str = "CUDA") -> ctypes.CDLL | str:
    """The library, with its functions registered in JAX, or why there is none."""
    if not path.is_file():
        if build.cuda_compiler() is None:
            return (
                "not built, no CUDA compiler found (looked for nvcc, the variables NVCC and "
                "CUDA_HOME)"
            )
        return "not built; python -m prssm.dynamics.engines.cuda.build builds it"
    try:
        library = ctypes.CDLL(str(path))
        # Asked before it is registered: JAX checks this too, but would then not start at all.
        built = (library.prssm_cuda_interface_major(), library.prssm_cuda_interface_minor())
        here = interface_version()
        if built[0] != here[0] or built > here:
            return f"built for another jaxlib (its interface is {built}, here {here}); {_ANEW}"
        for name in FUNCTIONS:
            jax.ffi.register_ffi_target(
                name, jax.ffi.pycapsule(getattr(library, name)), platform=platform
            )
    except Exception as error:  # whatever it is, JAX computes without it, and `prssm info` tells
        return f"does not load: {str(error).splitlines()[0]}; {_ANEW}"
    number = ctypes.c_int64
    flag = ctypes.c_bool
    library.prssm_slice_trajectories.argtypes = (number, number, number, flag, flag, number)
    library.prssm_slice_trajectories.restype = number
    library.prssm_largest_matrix.restype = number
    library.prssm_cuda_compiler.restype = ctypes.c_char_p
    return library
