"""Data sets by name.

Public recordings under the protocol of their benchmark, and simulators with a known truth.

    train, test = prssm.datasets.load("drives")

Recordings are taken from the data folder (the argument, else the environment variable PRSSM_DATA,
else the user's cache folder), or downloaded to it; their checksums are verified. Simulators need no
files.
"""

import os

import numpy as np

from prssm.data.sets.data_set import DataSet, Part
from prssm.data.sets.download import data_folder, fetch, is_local
from prssm.data.sets.public_sets import LOADERS, PUBLIC
from prssm.data.sets.sarcos import load_sarcos, sarcos_measured_rows
from prssm.data.simulators import DEFAULT_SETS, load_simulated
from prssm.foundation.errors import DataError, did_you_mean

__all__ = ["DataSet", "available", "data_folder", "describe", "load", "measured_rows", "names"]


def names() -> tuple[str, ...]:
    """All data sets, the public ones first."""
    return (*PUBLIC, *DEFAULT_SETS)


def describe(name: str) -> DataSet:
    """Source, files with checksums, split and protocol of a data set."""
    _check_known(name)
    return PUBLIC[name] if name in PUBLIC else DEFAULT_SETS[name].about


def available(name: str, folder: str | os.PathLike[str] | None = None) -> bool:
    """Whether a data set can be loaded without a download."""
    data_set = describe(name)
    where = data_folder(folder)
    enough = any if name == "sarcos" else all  # one of the two Sarcos files serves
    return data_set.simulated or enough(is_local(file, where) for file in data_set.files)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> tuple[Part, Part]:
    """The training and the test part of a data set.

    Each is a Record or, if it has several experiments, a list of them.
    """
    _check_known(name)
    if name in DEFAULT_SETS:
        return load_simulated(name)
    files = PUBLIC[name].files
    where = data_folder(folder)
    if name == "sarcos":
        return load_sarcos(files, where)
    return LOADERS[name]([fetch(file, where) for file in files])


def measured_rows(
    name: str, folder: str | os.PathLike[str] | None = None
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each training and test experiment, which rows were really measured.

    These are all, but for a reconstructed Sarcos.
    """
    if name == "sarcos":
        return sarcos_measured_rows(PUBLIC[name].files, data_folder(folder))
    parts = (part if isinstance(part, list) else [part] for part in load(name, folder))
    train, test = ([~np.isnan(record.y).all(axis=1) for record in part] for part in parts)
    return train, test


def _check_known(name: str) -> None:
    if name not in names():
        raise DataError(f"unknown data set {name!r}.{did_you_mean(name, names())}")
