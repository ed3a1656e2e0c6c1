"""Named columns to a file, one function a format.

All write to a temporary name first: a file is whole or not there.
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.binary_files import import_polars
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError

Columns = dict[str, np.ndarray]
_ROWS = 50_000  # that are turned into text at a time


def write_csv(path: Path, columns: Columns) -> None:
    """Comma-separated, with a header.

    Numbers have all the digits that give the same number back, missing ones are empty.
    """
    if all(_looks_like_data(name) for name in columns):
        raise DataError(
            f"{path}: column names {', '.join(columns)} are numbers; a CSV header needs at least "
            "one word"
        )
    for name in columns:
        if name != name.strip() or not name or not name.isprintable():
            raise DataError(
                f"{path}: column name {name!r} cannot stand in a CSV header: it is empty, starts "
                "or ends with "
                f"blanks, or has unprintable characters"
            )
    plain = all(re.fullmatch(r"\w[\w .\-/\[\]()]*", name) for name in columns)
    with replacing(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        csv.writer(
            text, quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL, lineterminator="\n"
        ).writerow(columns)
        rows = csv.writer(text, lineterminator="\n")
        length = len(next(iter(columns.values())))
        for begin in range(0, length, _ROWS):  # Python's numbers take more memory than NumPy's
            part = slice(begin, begin + _ROWS)
            cells = [_cells(values[part]) for values in columns.values()]
            rows.writerows(zip(*cells, strict=True))
        text.detach()


def _cells(values: np.ndarray) -> list[Any]:
    if values.dtype.kind == "M":  # dates as they are written in ISO
        return np.datetime_as_string(values).tolist()
    if values.dtype.kind != "f":
        return values.tolist()
    # only NaN differs from itself
    return ["" if value != value else value for value in values.tolist()]


def write_parquet(path: Path, columns: Columns) -> None:
    polars = import_polars()
    whole = io.BytesIO()  # polars would call a full disk an error of its own
    polars.DataFrame(columns).write_parquet(whole)
    with replacing(path) as stream:
        stream.write(whole.getbuffer())


def write_npz(path: Path, columns: Columns) -> None:
    """One array a column.

    Written by hand because `numpy.savez` cannot store an array called 'file'.
    """
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)


def write_mat(path: Path, columns: Columns) -> None:
    """MAT version 5, one column vector a variable."""
    from scipy.io import savemat

    for name in columns:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name):
            raise DataError(
                f"{path}: {name!r} cannot be a MATLAB variable: expected a letter, then letters, "
                "digits or "
                f"underscores, 63 at most"
            )
    with replacing(path) as stream:
        savemat(stream, columns, long_field_names=True, do_compression=True, oned_as="column")


def _looks_like_data(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".mat": write_mat,
    ".npz": write_npz,
}
