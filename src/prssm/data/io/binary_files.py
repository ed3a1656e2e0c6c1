"""Parquet, NPZ and MATLAB files (v5 to v7 through scipy, v7.3 through h5py) as columns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.columns import ArrayColumns, as_variables
from prssm.data.io.mat_check import check_mat
from prssm.data.io.npz_members import npz_members
from prssm.foundation.errors import DataError, MissingExtraError
from prssm.foundation.limits import check_unpacked


def read_parquet(path: Path, rows: slice = slice(None)) -> ArrayColumns:
    """All rows, or some of them; the others are then never in memory."""
    begin = rows.start or 0
    frame = _collected(
        path, lambda lazy: lazy.slice(begin, None if rows.stop is None else rows.stop - begin)
    )
    polars = import_polars()
    columns = {}
    for series in frame.iter_columns():
        is_number = series.dtype.is_numeric() or series.dtype == polars.Boolean
        columns[series.name] = (
            series.cast(polars.Float64).to_numpy() if is_number else series.to_numpy()
        )
    return as_variables(str(path), columns, word="column")


def parquet_rows(path: Path) -> int:
    """How many rows the file has, by its index."""
    return int(_collected(path, lambda lazy: lazy.select(import_polars().len())).item())


def _collected(path: Path, what: Callable[[Any], Any]) -> Any:
    """A part of a Parquet file as a frame."""
    polars = import_polars()
    try:
        return what(polars.scan_parquet(path, glob=False)).collect()
    # polars' own panic is no Exception: it comes from Rust
    except (polars.exceptions.PolarsError, OSError, polars.exceptions.PanicException) as error:
        raise DataError(
            f"{path}: not a whole Parquet file (truncated or of another kind): {_first_line(error)}"
        ) from None


def import_polars() -> Any:
    """polars, or the line that says how to get it: the numerical core runs without."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError(
            "Parquet files need the package polars: pip install polars"
        ) from None
    return polars


def read_npz(path: Path) -> ArrayColumns:
    return as_variables(str(path), npz_members(path))


def read_mat(path: Path) -> ArrayColumns:
    with path.open("rb") as stream:
        start = stream.read(520)
    is_hdf5 = start.startswith((b"MATLAB 7.3", b"\x89HDF")) or start[512:].startswith(b"\x89HDF")
    return as_variables(str(path), _read_hdf5(path) if is_hdf5 else _read_mat5(path))


def _read_mat5(path: Path) -> dict[str, np.ndarray]:
    from scipy.io import loadmat

    check_mat(path)
    try:
        found = loadmat(path)
    # scipy raises a dozen kinds here; all mean that this is no readable MAT file
    except Exception as error:
        raise DataError(
            f"{path}: not a whole MAT file (truncated or of another kind): {_first_line(error)}"
        ) from None
    return {
        name: value
        for name, value in found.items()
        if not name.startswith("__") and isinstance(value, np.ndarray)
    }


def _read_hdf5(path: Path) -> dict[str, np.ndarray]:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(
            f"{path}: MAT files of version 7.3 need the extra hdf5: pip install 'prssm[hdf5]'"
        ) from None
    try:
        with h5py.File(path) as file:
            # MATLAB stores columns first, HDF5 rows first: every array arrives transposed
            found = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
            check_unpacked(path, sum(item.nbytes for item in found.values()))
            return {name: np.asarray(item[()]).T for name, item in found.items()}
    except DataError:
        raise
    except Exception as error:  # h5py passes on whatever the library finds
        raise DataError(
            f"{path}: not a whole MAT 7.3 file (truncated or of another kind): {_first_line(error)}"
        ) from None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
