"""The Sarcos arm: 66 experiments in one file.

It is either the published one or a reconstruction of it.
"""

from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.mat_check import check_mat
from prssm.data.record import Record
from prssm.data.sets.download import DataFile, fetch, is_local
from prssm.foundation.errors import DataError

# the joint positions jump exactly at the multiples of 674 rows
EXPERIMENTS = 66
ROWS = 674
TRAINING = 60
KEEP_EVERY = 2
JOINTS = 7  # columns: 7 positions, 7 velocities, 7 accelerations, 7 torques


def load_sarcos(files: tuple[DataFile, ...], folder: Path) -> tuple[list[Record], list[Record]]:
    """60 training and 6 test experiments of 337 rows, torques in, positions out."""
    table, _, label = read_table(files, folder)
    kept = _experiments(table)
    named: dict[str, Any] = {
        "dt": 0.01 * KEEP_EVERY,
        "input_names": [f"torque{i}" for i in range(1, 8)],
        "output_names": [f"q{i}" for i in range(1, 8)],
    }
    records = [
        Record(rows[:, -JOINTS:], rows[:, :JOINTS], name=f"sarcos{label} {i}", **named)
        for i, rows in enumerate(kept)
    ]
    return records[:TRAINING], records[TRAINING:]


def sarcos_measured_rows(
    files: tuple[DataFile, ...], folder: Path
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each training and test experiment, which of its rows were measured.

    The others are interpolated.
    """
    _, measured, _ = read_table(files, folder)
    kept = list(_experiments(measured))
    return kept[:TRAINING], kept[TRAINING:]


def _experiments(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(EXPERIMENTS, ROWS, *rows.shape[1:])[:, ::KEEP_EVERY]


def read_table(files: tuple[DataFile, ...], folder: Path) -> tuple[np.ndarray, np.ndarray, str]:
    """The table from the first file that there is.

    The published file of the folder comes first, then the reconstruction, then a download of the
    published one.
    """
    published, reconstructed = files
    if is_local(reconstructed, folder) and not is_local(published, folder):
        with np.load(fetch(reconstructed, folder), allow_pickle=False) as archive:
            return (
                archive["sarcos_inv"].astype(np.float64),
                archive["row_source"] != 0,
                " reconstructed",
            )
    from scipy.io import loadmat

    path = fetch(published, folder)
    check_mat(path)
    table = loadmat(path).get("sarcos_inv")
    if table is None or table.shape != (EXPERIMENTS * ROWS, 4 * JOINTS):
        raise DataError(
            f"{path}: expected a variable 'sarcos_inv' of {EXPERIMENTS * ROWS} x {4 * JOINTS} "
            "numbers, got "
            f"{'none' if table is None else ' x '.join(map(str, table.shape))}"
        )
    return table.astype(np.float64), np.ones(len(table), dtype=bool), ""
