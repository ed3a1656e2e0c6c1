"""The files that a page of the manual begins with, by name.

A new scene is a function that writes files into a folder, and a line in `SCENES`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import prssm
from prssm.data.simulators import simulate

ROOT = Path(__file__).parents[1]
# Small enough for a second of training: these models are there to be used, not to be good.
_SMALL = {
    "complexity": "free",
    "latent_dim": 2,
    "inducing": 6,
    "iterations": 60,
    "restarts": 1,
    "folds": 0,
}


def write(scene: str, folder: Path) -> None:
    """Put the files of a scene into a folder; a page without a scene begins with none.

    The programs of the repository are there too.
    """
    for name in ("benchmarks", "examples", "studies"):
        (folder / name).symlink_to(ROOT / name)
    if scene:
        SCENES[scene](folder)


def pump(folder: Path) -> None:
    """A log of a pump as CSV files, a model of it, and a linear one."""
    for seed, name in enumerate(("log", "next_week", "last_week", "test", "today", "next")):
        (record,) = simulate("tanks_sim", length=160, seed=seed)
        write_csv(folder / f"{name}.csv", record)
    log = prssm.read(folder / "log.csv", inputs=["valve"], outputs=["pressure"], time="t")
    prssm.PRSSM(**_SMALL).fit(log).save(folder / "pump.prssm")
    prssm.LinearSSM(order=2, starts=1, random_starts=0).fit(log).save(folder / "linear.prssm")


def logs(folder: Path) -> None:
    """A log file, and a folder of several with the same columns."""
    pump(folder)
    (folder / "logs").mkdir()
    for seed in range(3):
        (record,) = simulate("tanks_sim", length=160, seed=10 + seed)
        write_csv(folder / "logs" / f"day{seed}.csv", record)


def plant(folder: Path) -> None:
    """A small model of a plant with one input, `valve`, and one output, `level`."""
    (record,) = simulate("tanks_sim", length=160, seed=0)
    record = prssm.Record(record.u, record.y, 0.5, input_names=["valve"], output_names=["level"])
    model = prssm.PRSSM(**_SMALL, recognition_window=3).fit(record)
    model.save(folder / "plant.prssm")


def write_csv(path: Path, record: prssm.Record) -> None:
    """A record as columns t, valve and pressure."""
    time = np.arange(len(record)) * (record.dt or 1.0)
    columns = np.column_stack([time, record.u, record.y])
    np.savetxt(path, columns, delimiter=",", header="t,valve,pressure", comments="", fmt="%.6g")


SCENES: dict[str, Callable[[Path], None]] = {"pump": pump, "logs": logs, "plant": plant}
