"""Recordings in files of many formats to a Record and back; the suffix says which.

All formats are read as named columns. In MAT and NPZ files every variable is a column; a matrix `X`
(T x k) is the columns X1 .. Xk, and asking for `X` takes them all. Text files without a header have
columns "1", "2", ... A new format is a reader in a file of this room and a line in `READERS`.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from prssm.data.clock.names import TIME_COLUMN
from prssm.data.clock.rules import Duplicates, Gaps, TimeRules
from prssm.data.io import archives
from prssm.data.io.columns import NO_WORDS, FileColumns, FileWords
from prssm.data.io.records import Choice, Names, chosen_names, records_of
from prssm.data.io.writers import WRITERS
from prssm.data.record import Record
from prssm.foundation.errors import DataError

_TEXT = "prssm.data.io.text_files:read_text"
_SHEET = "prssm.data.io.tables:read_spreadsheet"
_ARROW = "prssm.data.io.tables:read_arrow"
_SQLITE = "prssm.data.io.tables:read_sqlite"
_HDF5 = "prssm.data.io.hdf5:read_hdf5"
# module:function, which is imported when the first such file is read
READERS: dict[str, str] = {
    ".csv": _TEXT,
    ".txt": _TEXT,
    ".dat": _TEXT,
    ".tsv": _TEXT,
    ".tab": _TEXT,
    ".asc": _TEXT,
    ".parquet": "prssm.data.io.binary_files:read_parquet",
    ".feather": _ARROW,
    ".arrow": _ARROW,
    ".xlsx": _SHEET,
    ".xlsm": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".mat": "prssm.data.io.matlab:read_mat",
    ".npz": "prssm.data.io.binary_files:read_npz",
    ".h5": _HDF5,
    ".hdf5": _HDF5,
    ".db": _SQLITE,
    ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE,
    ".duckdb": "prssm.data.io.tables:read_duckdb",
}

AnyPath = str | os.PathLike[str]


class Reading(TypedDict, total=False):
    """The keywords of `read`, for type checkers."""

    inputs: Names
    outputs: Names
    time: str | None
    dt: float | None
    sort: bool
    duplicates: Duplicates
    resample: float | str | None
    time_unit: str | None
    decimal: str | None
    query: str | None


@overload
def read(
    path: AnyPath, *, gaps: Literal["error", "fill"] = "error", **how: Unpack[Reading]
) -> Record: ...


@overload
def read(path: AnyPath, *, gaps: Literal["split"], **how: Unpack[Reading]) -> list[Record]: ...


@overload
def read(
    path: list[str] | list[Path] | tuple[AnyPath, ...],
    *,
    gaps: Gaps = "error",
    **how: Unpack[Reading],
) -> list[Record]: ...


def read(
    path: Any,
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
    gaps: Gaps = "error",
    sort: bool = False,
    duplicates: Duplicates = "error",
    resample: float | str | None = None,
    time_unit: str | None = None,
    decimal: str | None = None,
    query: str | None = None,
) -> Any:
    """A Record from the named columns of a file; a list of them from a list of files.

    Each file is an experiment.

    The suffix says the format. Inputs or outputs that are not named are the columns u, u1, u2, ..
    and y, y1, y2, .. where the file has them; an empty list means none. `time` names the column of
    time stamps: seconds, dates, clock times, Unix time, days of Excel or MATLAB (`time_unit` says
    which, where the column does not). A column called "time" is used by itself if neither `time`
    nor `dt`, the sampling time in seconds, is given. Missing outputs become NaN.

    Rows must go on at a constant rate. `gaps='split'` gives a list of Records, the parts between
    gaps; `gaps='fill'` adds rows with missing outputs. `sort=True` puts rows in order of time;
    `duplicates='mean'` or 'first' keeps one row of each time. `resample=0.5` (or '500ms', 'auto')
    puts rows on that step. `decimal` is ',' or '.', where a text file does not show it. `query` is
    SQL, for a data base.
    """
    rules = TimeRules(gaps, sort, duplicates, resample=resample, unit=time_unit)
    choice = Choice(inputs, outputs, time, dt=dt, rules=rules)
    words = FileWords(decimal, query)
    if isinstance(path, list | tuple):
        return [record for each in path for record in read_records(each, choice, words)]
    records = read_records(path, choice, words)
    return records if gaps == "split" or len(records) > 1 else records[0]


def read_records(path: AnyPath, choice: Choice, how: FileWords = NO_WORDS) -> list[Record]:
    """All experiments in one file."""
    return records_in(open_columns(path, how), choice)


def records_in(columns: FileColumns, choice: Choice) -> list[Record]:
    """All experiments in an open file."""
    from prssm.data.io.matlab import MatlabColumns

    parts: Sequence[FileColumns] = [columns]
    if isinstance(columns, MatlabColumns):
        inputs = chosen_names(columns, choice.inputs, "u")
        outputs = chosen_names(columns, choice.outputs, "y")
        parts = columns.experiments([*inputs, *outputs])
        if len(parts) > 1 or parts[0] is not columns:
            choice = replace(choice, inputs=inputs, outputs=outputs)
    return [record for part in parts for record in records_of(part, choice)]


def open_columns(path: AnyPath, how: FileWords = NO_WORDS) -> FileColumns:
    """The named columns of a file, for who wants to look at them before choosing some."""
    path = _existing(path)
    if path.suffix.lower() in archives.SUFFIXES:
        with archives.unpacked(path) as inner:
            return replace(_opened(inner, how), where=str(path))  # type: ignore[type-var]
    return _opened(path, how)


def _opened(path: Path, how: FileWords) -> FileColumns:
    module, _, name = _by_suffix(path, READERS, "read").partition(":")
    reader: Callable[[Path, FileWords], FileColumns]
    reader = getattr(importlib.import_module(module), name)
    return reader(path, how)


def write_record(path: AnyPath, record: Record) -> Path:
    """Write a Record such that `read` gives the same numbers, names and sampling time back.

    The suffix says the format.
    """
    columns: dict[str, np.ndarray] = {}
    if record.dt is not None:
        columns[TIME_COLUMN] = np.arange(len(record)) * record.dt
    named = [
        *zip(record.input_names, record.u.T, strict=True),
        *zip(record.output_names, record.y.T, strict=True),
    ]
    for column, values in named:
        if column in columns:
            raise DataError(
                f"{path}: two columns would be called {column!r}; rename the record's inputs or "
                "outputs"
            )
        columns[column] = values
    return _write(path, columns, tuple(WRITERS))


def write_columns(path: AnyPath, columns: Mapping[str, Any]) -> Path:
    """Write named columns of equal length to a CSV or Parquet file.

    It is complete under its name, or not there.
    """
    arrays = {str(name): np.asarray(values) for name, values in columns.items()}
    return _write(path, arrays, (".csv", ".parquet"))


def _write(path: AnyPath, columns: dict[str, np.ndarray], suffixes: tuple[str, ...]) -> Path:
    path = Path(path)
    if not columns:
        raise DataError(f"{path}: expected at least one column to write, got none")
    lengths = {name: len(values) for name, values in columns.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise DataError(
                f"{path}: column {name!r} has {length} rows, but {first!r} has {lengths[first]}"
            )
    writer = _by_suffix(path, {suffix: WRITERS[suffix] for suffix in suffixes}, "write")
    writer(path, columns)
    return path


def _existing(path: AnyPath) -> Path:
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: expected a file, got a folder")
    if not path.exists():
        siblings = (
            sorted(p.name for p in path.parent.glob("*") if p.suffix.lower() in READERS)
            if path.parent.is_dir()
            else []
        )
        note = f" (the folder holds {', '.join(siblings[:8])})" if siblings else ""
        raise DataError(f"{path}: no such file{note}")
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty")
    return path


def _by_suffix(path: Path, handlers: Mapping[str, Any], verb: str) -> Any:
    if path.suffix.lower() not in handlers:
        ending = f"files ending in {path.suffix!r}" if path.suffix else "a file without a suffix"
        raise DataError(f"{path}: cannot {verb} {ending}; expected {', '.join(handlers)}")
    return handlers[path.suffix.lower()]
