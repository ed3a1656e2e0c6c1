"""Generated C code as a library that Python calls, to compare and to time it."""

import ctypes
from pathlib import Path

import numpy as np

from prssm.export.c99.compiler import build, compiler
from prssm.export.c99.source import Sources, sources
from prssm.export.description import Description
from prssm.export.targets import ExportSettings

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


class CLibrary:
    """One exported model; every call takes and gives NumPy arrays in physical units."""

    def __init__(
        self, description: Description, folder: Path, flags: tuple[str, ...] = (), **settings
    ) -> None:
        self.settings = ExportSettings(**settings)
        self.made: Sources = sources(description, self.settings)
        self.description = description
        for name, text in self.made.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        words = compiler()
        assert words is not None, "needs a C compiler"
        path = build(
            words, [folder / "prssm_model.c"], folder / "model.so", ["-shared", "-fPIC", *flags]
        )
        self._code = ctypes.CDLL(str(path))
        self.kind = np.float32 if self.settings.precision == "single" else np.float64
        self.outputs = len(description.outputs)
        states = description.states
        members = len(description.followed)
        size = states + description.colour_states
        self.state = np.zeros(self.made.trajectories * states + 2, self.kind)
        self.filter = np.zeros(members * (size + size * size + 1), self.kind)
        self._sizes = members, size

    @property
    def x(self) -> np.ndarray:
        """The states of all trajectories (S, Dx)."""
        return self.state[: self.made.trajectories * self.description.states].reshape(
            self.made.trajectories, -1
        )

    @property
    def beliefs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, covariances and logarithms of the weights of the filter."""
        members, size = self._sizes
        mean, covariance, weight = np.split(
            self.filter, [members * size, members * (size + size * size)]
        )
        return mean.reshape(members, size), covariance.reshape(members, size, size), weight

    def call(self, name: str, *arrays: np.ndarray | None) -> int:
        """A function of the header on arrays of its precision."""
        for array in arrays:
            assert array is None or (array.dtype == self.kind and array.flags.c_contiguous)
        return getattr(self._code, name)(
            *(ctypes.c_void_p(None if a is None else a.ctypes.data) for a in arrays)
        )

    def array(self, values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values, self.kind)

    def run(
        self, u: np.ndarray, y: np.ndarray | None, eps: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation (T, Dy) of a free run; `eps` (T, S, Dx) is noise of the caller's."""
        u = self.array(u)
        if y is None:
            self.call("prssm_init_prior", self.state)
        else:
            self.call("prssm_init", self.state, u, self.array(y))
        mean = np.zeros((len(u), self.outputs), self.kind)
        std = np.full_like(mean, np.nan)
        for row in range(len(u)):
            if eps is None:
                self.call("prssm_step", self.state, u[row], mean[row], std[row])
            else:
                noise = self.array(eps[row])
                self.call("prssm_step_drawn", self.state, u[row], noise, mean[row], std[row])
        return mean, std
