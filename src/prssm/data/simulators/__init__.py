"""Physical systems with a known truth, of any length, reproducible by seed.

    records = simulate("tanks_sim", length=2000, experiments=3, seed=1, output_std=0.05)

Experiment i of a seed is always the same, no matter how many are asked for; `stream` gives them one
after the other, for data sets larger than memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.sets.data_set import DataSet, Part
from prssm.data.simulators.arm import ARM
from prssm.data.simulators.drives import DRIVES
from prssm.data.simulators.kink import KINK
from prssm.data.simulators.system import System, Trajectory
from prssm.data.simulators.tanks import TANKS
from prssm.foundation.errors import DataError, OptionError, did_you_mean
from prssm.foundation.options import Options

__all__ = [
    "DEFAULT_SETS",
    "SYSTEMS",
    "Trajectory",
    "load_simulated",
    "parameters",
    "simulate",
    "simulate_with_truth",
    "stream",
]

SYSTEMS: dict[str, System] = {system.name: system for system in (DRIVES, KINK, TANKS, ARM)}


def simulate(
    name: str, length: int = 500, experiments: int = 1, seed: int = 0, **physical: Any
) -> list[Record]:
    """`experiments` Records of `length` rows.

    Other arguments are physical parameters of the system.
    """
    return [
        trajectory.record
        for trajectory in simulate_with_truth(name, length, experiments, seed=seed, **physical)
    ]


def simulate_with_truth(
    name: str, length: int = 500, experiments: int = 1, seed: int = 0, **physical: Any
) -> list[Trajectory]:
    """As `simulate`, with the true states beside each Record."""
    return list(stream(name, length, experiments, seed=seed, **physical))


def stream(
    name: str, length: int = 500, experiments: int = 1, seed: int = 0, **physical: Any
) -> Iterator[Trajectory]:
    """As `simulate_with_truth`, one experiment after the other."""
    chosen = parameters(name, **physical)
    for word, value, least in (
        ("length", length, 2),
        ("experiments", experiments, 1),
        ("seed", seed, 0),
    ):
        if not isinstance(value, int | np.integer) or value < least:
            raise OptionError(f"{word}: expected a whole number of at least {least}, got {value!r}")
    return _run(SYSTEMS[name], chosen, length, experiments=experiments, seed=seed)


def parameters(name: str, **physical: Any) -> Options:
    """The physical parameters of a system, some of them changed."""
    if name not in SYSTEMS:
        raise DataError(f"unknown simulator {name!r}.{did_you_mean(name, SYSTEMS)}")
    return SYSTEMS[name].Parameters().replace(**physical)


def _run(
    system: System, chosen: Options, length: int, experiments: int, seed: int
) -> Iterator[Trajectory]:
    for first in range(0, experiments, system.batch):
        together = range(first, min(first + system.batch, experiments))
        generators = [np.random.default_rng([seed, experiment]) for experiment in together]
        for experiment, trajectory in zip(
            together, system.run(chosen, length, generators), strict=True
        ):
            yield Trajectory(
                trajectory.record.renamed(f"{system.name} {experiment}"), trajectory.states
            )


@dataclass(frozen=True)
class DefaultSet:
    """The training and test part that the catalogue gives for a simulator.

    The first experiments train.
    """

    about: DataSet
    length: int
    training: int
    test: int


def _default(system: System, length: int, training: int, test: int, note: str = "") -> DefaultSet:
    dt = getattr(system.Parameters(), "dt", None)
    if training == 1:
        split = f"two thirds of {length} rows train, the rest tests"
    else:
        split = f"{training} experiments of {length} rows train, {test} test"
    return DefaultSet(
        DataSet(system.name, system.title, "simulated, seed 0", split=split, dt=dt, note=note),
        length,
        training,
        test=test,
    )


DEFAULT_SETS: dict[str, DefaultSet] = {
    default.about.name: default
    for default in (
        _default(
            DRIVES,
            750,
            1,
            test=0,
            note="The sensor loses the sign of the speed. The data of `prssm demo`.",
        ),
        _default(KINK, 750, 1, test=0, note="No input."),
        _default(
            TANKS, 1536, 1, test=0, note="The upper tank overflows, partly into the lower one."
        ),
        _default(
            ARM,
            337,
            20,
            test=4,
            note="Rigid-body dynamics; torques of a controller that tracks smooth random motions.",
        ),
    )
}


def load_simulated(name: str) -> tuple[Part, Part]:
    """The default training and test part of a simulator."""
    default = DEFAULT_SETS[name]
    if default.training == 1:
        record = simulate(name, default.length)[0]
        cut = 2 * default.length // 3
        return record[:cut].renamed(f"{name} train"), record[cut:].renamed(f"{name} test")
    records = simulate(name, default.length, default.training + default.test)
    return records[: default.training], records[default.training :]
