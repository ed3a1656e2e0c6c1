"""Whole iterations of the training of PR-SSM in the native library, without JAX.

The caller gives every array of every restart as one row of a matrix (see `Offsets` for their
names), the data, and the random numbers of the iterations; `advance` trains in place. `layout.h`
and `training.cc` are the other side of this.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.dynamics.engines.native import library
from prssm.foundation.errors import TrainingError
from prssm.training.race import Moving

_SIZES = (
    *("dx", "du", "dy", "points", "steps", "batch", "samples", "window", "hidden", "shown"),
    *("diagonal", "per_step", "mean", "neurons", "full", "rows", "windows"),
)
ARRAYS = (
    *("log_std", "log_lengthscale", "zeta", "z_mean", "z_spread", "weight", "bias"),
    *("log_process_std", "neuron_out", "neuron_weight", "neuron_bias"),
    *("states", "inputs", "offset", "hidden_weight", "hidden_bias"),
    *("mean_weight", "log_std_weight", "log_std_bias", "direct", "direct_bias"),
    *("log_output_std", "noise_memory"),
)


class Sizes(ctypes.Structure):
    """Sizes and kinds of one restart's parts; `layout.h` explains each."""

    _fields_ = [(name, ctypes.c_int64) for name in _SIZES]


class Offsets(ctypes.Structure):
    """Where each array begins in a restart's row of parameters; -1 where the model has none."""

    _fields_ = [(name, ctypes.c_int64) for name in (*ARRAYS, "size")]

    @classmethod
    def of(cls, begins: Mapping[str, int], size: int) -> "Offsets":
        return cls(*(begins.get(name, -1) for name in ARRAYS), size)


class _Pointers(ctypes.Structure):
    """A structure of pointers to arrays, which it keeps alive."""

    @classmethod
    def to(cls, **arrays: Any) -> Any:
        kept = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}
        made = cls(**{name: _address(value) for name, value in arrays.items()})
        made.kept = kept
        return made


class _Data(_Pointers):
    _fields_ = [(name, ctypes.c_void_p) for name in ("u", "y", "filled")]


class _Restarts(_Pointers):
    _fields_ = [
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("part", "shown", "starts", "steps", "anchors")),
        *((f"{name}", ctypes.c_void_p) for name in ("gp_weight", "anchor_precision")),
        *((name, ctypes.c_void_p) for name in ("memory_weight", "theta", "first_moment")),
        *((name, ctypes.c_void_p) for name in ("second_moment", "updates", "alive_until")),
    ]


class _Draws(_Pointers):
    _fields_ = [(name, ctypes.c_void_p) for name in ("windows", "eps", "function")]


class _Schedule(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_double)
        for name in ("iterations", "learning_rate", "final_rate", "ramp", "clip")
    ]


def _address(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if not value.flags.c_contiguous:
        raise ValueError("an array for the native library must be contiguous")
    return value.ctypes.data


@dataclass(frozen=True, eq=False)
class Problem:
    """All that training does not change.

    Data, what each restart is shown of them, and what it costs to leave its start.
    """

    sizes: Sizes
    offsets: Offsets
    u: np.ndarray  # (rows, Du)
    y: np.ndarray  # (rows, Dy), NaN where nothing was measured
    filled: np.ndarray  # (rows, Dy)
    part: np.ndarray  # (restarts,) which of the parts a restart is shown
    shown: np.ndarray  # (parts, rows) of 0 and 1
    starts: np.ndarray  # (parts, windows)
    steps: np.ndarray  # (parts,)
    anchors: np.ndarray  # (restarts, size)
    gp_weight: np.ndarray  # (restarts,)
    anchor_precision: np.ndarray
    memory_weight: np.ndarray


@dataclass(frozen=True, eq=False)
class Draws:
    """The random numbers of some iterations; arrays lead with the iteration."""

    windows: np.ndarray  # (iterations, batch) of int64
    eps: (
        np.ndarray
    )  # (iterations, T, Dx, B), float32 or float64, which is the precision of the recursion
    function: np.ndarray | None  # (iterations, Dx, P, B) where each trajectory has its own function


def _arguments(problem: Problem, moving: Moving, draws: Draws) -> tuple:
    data = _Data.to(u=problem.u, y=problem.y, filled=problem.filled)
    restarts = _Restarts.to(
        count=len(moving.theta),
        part=problem.part,
        shown=problem.shown,
        starts=problem.starts,
        steps=problem.steps,
        anchors=problem.anchors,
        gp_weight=problem.gp_weight,
        anchor_precision=problem.anchor_precision,
        memory_weight=problem.memory_weight,
        **vars(moving),
    )
    return data, restarts, _Draws.to(**vars(draws))


def advance(
    problem: Problem, moving: Moving, draws: Draws, *, schedule: tuple, first: int
) -> np.ndarray:
    """Train all restarts for as many iterations as there are draws, and give their mean objectives.

    The objective is NaN where a restart was lost. `schedule` is (iterations, learning rate, final
    rate, iterations until the regulariser has its full weight, largest gradient).
    """
    values = np.zeros(len(moving.theta))
    data, restarts, numbers = _arguments(problem, moving, draws)
    failed = library.loaded().prssm_train(
        *map(ctypes.byref, (problem.sizes, problem.offsets, data, restarts, numbers)),
        ctypes.byref(_Schedule(*map(float, schedule))),
        ctypes.c_int64(first),
        ctypes.c_int64(len(draws.windows)),
        ctypes.c_int64(draws.eps.dtype == np.float32),
        ctypes.c_void_p(values.ctypes.data),
    )
    if failed:
        raise TrainingError(
            "out of memory; try a smaller batch, fewer samples or a shorter horizon"
        )
    return values


def value_and_gradient(
    problem: Problem, moving: Moving, draws: Draws, *, restart: int, kl_weight: float
) -> tuple[float, np.ndarray]:
    """The objective of one restart at the first of the draws, with its gradient.

    Nothing is trained.
    """
    gradient = np.zeros(moving.theta.shape[1])
    data, restarts, numbers = _arguments(problem, moving, draws)
    value = library.loaded().prssm_objective(
        *map(ctypes.byref, (problem.sizes, problem.offsets, data, restarts, numbers)),
        ctypes.c_int64(restart),
        ctypes.c_double(kl_weight),
        ctypes.c_int64(draws.eps.dtype == np.float32),
        ctypes.c_void_p(gradient.ctypes.data),
    )
    return value, gradient
