"""Recordings in files: CSV, Parquet, MAT (v5 and v7.3) and NPZ to a Record and back.

All formats are read as named columns. In MAT and NPZ files every variable is a column; a matrix `X`
(T x k) is the columns X1 .. Xk, and asking for `X` takes them all. Text files without a header have
columns "1", "2", ...
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from prssm.data.io.binary_files import read_mat, read_npz, read_parquet
from prssm.data.io.columns import FileColumns
from prssm.data.io.text_files import read_text
from prssm.data.io.writers import WRITERS
from prssm.data.record import Record
from prssm.foundation.errors import DataError, listed

READERS: dict[str, Callable[[Path], FileColumns]] = {
    ".csv": read_text,
    ".txt": read_text,
    ".dat": read_text,
    ".tsv": read_text,
    ".parquet": read_parquet,
    ".mat": read_mat,
    ".npz": read_npz,
}
TIME_COLUMN = "time"

AnyPath = str | os.PathLike[str]
Names = str | Sequence[str] | None


@overload
def read(
    path: AnyPath,
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
) -> Record: ...


@overload
def read(
    path: list[str] | list[Path] | tuple[AnyPath, ...],
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
) -> list[Record]: ...


def read(
    path: Any,
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
) -> Any:
    """A Record from the named columns of a file; a list of them from a list of files.

    Each file is an experiment.

    The suffix says the format: CSV and its relatives, Parquet, MAT or NPZ. Inputs or outputs that
    are not named are the columns u, u1, u2, .. and y, y1, y2, .. where the file has them; an empty
    list means none. `time` names the column of time stamps (seconds, or ISO dates); a column called
    "time" is used by itself if neither `time` nor `dt`, the sampling time in seconds, is given.
    Missing outputs become NaN.
    """
    if isinstance(path, list | tuple):
        return [read(each, inputs=inputs, outputs=outputs, time=time, dt=dt) for each in path]
    return record_of(open_columns(path), inputs=inputs, outputs=outputs, time=time, dt=dt)


def open_columns(path: AnyPath) -> FileColumns:
    """The named columns of a file, for who wants to look at them before choosing some."""
    path = _existing(path)
    return _by_suffix(path, READERS, "read")(path)


def record_of(
    columns: FileColumns,
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
) -> Record:
    """A Record from some columns of an open file; the arguments are those of `read`."""
    input_names = _chosen(columns, inputs, "u")
    output_names = _chosen(columns, outputs, "y")
    names = input_names + output_names
    if not names:
        raise DataError(
            f"{columns.where}: say which columns are inputs and outputs, e.g. inputs=['u'], "
            f"outputs=['y'] (on the command line -u u -y y); the columns are "
            f"{listed(columns.names)}"
        )
    _check_once(columns.where, names)
    is_free = TIME_COLUMN in columns.names and TIME_COLUMN not in names
    if time is None and dt is None and is_free:
        time = TIME_COLUMN
    numbers = _numbers(columns, names)
    _check_inputs(columns, input_names, numbers)
    return Record(
        _stacked(numbers, input_names),
        _stacked(numbers, output_names),
        input_names=input_names,
        output_names=output_names,
        name=Path(columns.where).name,
        **_steps(columns, time, dt, length=len(numbers[names[0]])),
    )


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
            sorted(p.name for p in path.parent.glob("*") if p.suffix in READERS)
            if path.parent.is_dir()
            else []
        )
        note = f" (the folder holds {', '.join(siblings[:8])})" if siblings else ""
        raise DataError(f"{path}: no such file{note}")
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty")
    return path


def _by_suffix(
    path: Path, handlers: Mapping[str, Callable[..., Any]], verb: str
) -> Callable[..., Any]:
    if path.suffix.lower() not in handlers:
        ending = f"files ending in {path.suffix!r}" if path.suffix else "a file without a suffix"
        raise DataError(f"{path}: cannot {verb} {ending}; expected {', '.join(handlers)}")
    return handlers[path.suffix.lower()]


def _chosen(columns: FileColumns, names: Names, letter: str) -> list[str]:
    """The asked-for columns, matrices expanded.

    If nothing was asked, those called by the convention.
    """
    if names is None:
        return [name for name in columns.names if re.fullmatch(rf"{letter}\d*", name)]
    listed = [names] if isinstance(names, str) else list(names)
    return [column for name in listed for column in columns.expand(str(name))]


def _check_once(where: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"{where}: column {name!r} is asked for twice; a column is one input or one output"
        )


def _numbers(columns: FileColumns, names: list[str]) -> dict[str, np.ndarray]:
    numbers = {name: columns.numbers(name) for name in names}
    for name in names[1:]:
        if len(numbers[name]) != len(numbers[names[0]]):
            raise DataError(
                f"{columns.where}: {name!r} has {len(numbers[name])} rows, but {names[0]!r} has "
                f"{len(numbers[names[0]])}; expected the same number"
            )
    return numbers


def _check_inputs(
    columns: FileColumns, names: list[str], numbers: Mapping[str, np.ndarray]
) -> None:
    for name in names:
        missing = np.flatnonzero(np.isnan(numbers[name]))
        if len(missing):
            raise DataError(
                f"{columns.where}: input column {name!r}, {columns.place(int(missing[0]))}: the "
                f"value is missing ({len(missing)} such values); inputs must be known, only "
                "outputs may be missing"
            )


def _steps(columns: FileColumns, time: str | None, dt: float | None, length: int) -> dict[str, Any]:
    if time is None:
        return {"dt": dt}
    expanded = columns.expand(time)
    if len(expanded) != 1:
        raise DataError(
            f"{columns.where}: time column {time!r} has {len(expanded)} columns, expected 1"
        )
    stamps = columns.stamps(expanded[0])
    if (
        dt is None
        and len(stamps) == length > 1
        and stamps[1] > 0
        and np.array_equal(stamps, np.arange(length) * stamps[1])
    ):
        # stamps that are k dt to the last bit give dt to the last bit
        return {"dt": float(stamps[1])}
    return {"dt": dt, "time": stamps}


def _stacked(numbers: Mapping[str, np.ndarray], names: list[str]) -> np.ndarray | None:
    return np.stack([numbers[name] for name in names], axis=1) if names else None
