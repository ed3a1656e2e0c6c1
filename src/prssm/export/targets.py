"""The languages that a fitted model can be written in, by name.

A new target is a file with a function `write(description, out, settings)` that gives the path of
what it wrote, and a line in `TARGETS`, which also says what may stand at `out`. Nothing is imported
before it is asked for.
"""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prssm.export import places
from prssm.foundation.errors import OptionError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """What a target is told: how many trajectories carry the band, and in which precision."""

    samples: int = 50  # 0: the mean alone
    precision: str = "double"  # or "single"
    seed: int = 0  # of the trajectories

    def __post_init__(self) -> None:
        if self.samples < 0 or self.samples == 1:
            raise OptionError(
                f"samples: expected 0 (the mean alone) or at least 2, got {self.samples}"
            )
        if self.precision not in ("double", "single"):
            raise OptionError(f"precision: expected double or single, got {self.precision!r}")
        if self.seed < 0:
            raise OptionError(f"seed: expected at least 0, got {self.seed}")


@dataclass(frozen=True)
class Target:
    """Who writes a target, what it is in a few words, how names of its files end, where it fits."""

    home: str  # module:function
    says: str
    suffix: str
    checked: Callable[[Path], Path]  # one of `places`


TARGETS = {
    "c": Target("prssm.export.c99.target:write", "a folder with C99 code", "-c", places.folder),
    "fmu2": Target(
        "prssm.export.fmu.target:write_fmi2", "an FMU, FMI 2.0 co-simulation", ".fmu", places.fmu
    ),
    "fmu3": Target(
        "prssm.export.fmu.target:write_fmi3", "an FMU, FMI 3.0 co-simulation", ".fmu", places.fmu
    ),
    "casadi": Target(
        "prssm.export.casadi.target:write", "a file of CasADi functions", ".casadi", places.file
    ),
    "onnx": Target(
        "prssm.export.onnx.target:write", "a folder with ONNX graphs", "-onnx", places.folder
    ),
}


def export(
    model: Any,
    to: str,
    out: str | os.PathLike[str],
    *,
    samples: int = 50,
    precision: str = "double",
    seed: int = 0,
) -> Path:
    """Write a fitted PRSSM or LinearSSM in another language; the path of what was written.

    `to` is one of `TARGETS`. The band is carried by `samples` fixed trajectories; 0: the mean
    alone.
    """
    place = target_named(to).checked(Path(out))
    write = writer(to)
    settings = ExportSettings(samples=samples, precision=precision, seed=seed)
    from prssm.export.describing import describe

    return write(describe(model), place, settings)


def target_named(name: str) -> Target:
    """The target of that name."""
    if name not in TARGETS:
        raise OptionError(f"unknown target {name!r}.{did_you_mean(name, TARGETS)}")
    return TARGETS[name]


def writer(name: str) -> Callable[..., Path]:
    """The function that writes a target."""
    module, _, attribute = target_named(name).home.partition(":")
    return getattr(importlib.import_module(module), attribute)
