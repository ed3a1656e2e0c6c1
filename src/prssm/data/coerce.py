"""Whatever a user brings becomes a list of Records here.

Records, arrays, data frames and lists of them are taken.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from prssm.data.frames import from_frame, is_frame, with_outputs
from prssm.data.record import Record
from prssm.foundation.errors import DataError

LEAST_TRAINING_ROWS = 8

LARGEST = 1e100
SMALLEST = 1e-100  # that a column may move by: squares of less are zero
ROUNDING = 1e-12  # of a column's largest value: what moves by less is constant


def as_records(
    data: Any,
    y: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    time: str | None = None,
) -> list[Record]:
    """A list of Records from whatever a user brings.

    That is a Record, `(u, y)` arrays, a data frame with named columns, the path of a file, or a
    list of any of these. Inputs and outputs may be a frame and a series beside it.
    """
    if hasattr(data, "tocsr"):
        raise DataError(
            "data: sparse arrays are not supported; expected all values, e.g. toarray()"
        )
    if isinstance(data, str | os.PathLike):
        return _from_path(data, y, inputs=inputs, outputs=outputs, time=time)
    if isinstance(data, Record):
        if y is not None:
            raise DataError(
                "y: a Record brings its own outputs, so expected nothing beside it, got a "
                f"{type(y).__name__}"
            )
        return [data]
    if is_frame(data):
        if y is not None:
            return [with_outputs(data, y, inputs=inputs, outputs=outputs, time=time)]
        return [from_frame(data, inputs=inputs, outputs=outputs, time=time)]
    if y is not None:
        return _from_arrays(data, y)
    if _is_pair(data):
        return _from_arrays(*data)
    if isinstance(data, list | tuple):
        if not data:
            raise DataError("data: expected at least one record, got an empty list")
        records = [
            record
            for item in data
            for record in as_records(item, inputs=inputs, outputs=outputs, time=time)
        ]
        return [_numbered(record, i) for i, record in enumerate(records)]
    raise DataError(
        "data: expected a Record, (u, y) arrays, a data frame, the path of a file or a list of "
        f"these, got {type(data).__name__}"
    )


def is_collection(data: Any, y: Any = None) -> bool:
    """Whether these data are a collection of experiments, of one or more.

    An answer to them is then a list. The forms are those of `as_records`.
    """
    if _is_whole(data):
        return False
    if y is not None:
        return _is_list_of_arrays(y)
    if _is_pair(data):
        return _is_list_of_arrays(data[1])
    return isinstance(data, list | tuple)


def _is_whole(data: Any) -> bool:
    """One experiment with inputs and outputs in it."""
    return isinstance(data, Record | str | os.PathLike) or is_frame(data)


def _is_pair(data: Any) -> bool:
    """(u, y), each an array or a list of arrays; two Records or frames are two experiments."""
    return isinstance(data, tuple) and len(data) == 2 and not _is_whole(data[0])


def _is_list_of_arrays(y: Any) -> bool:
    return isinstance(y, list | tuple) and len(y) > 0 and np.ndim(y[0]) > 0


def _from_path(path: str | os.PathLike[str], y: Any, **columns: Any) -> list[Record]:
    from prssm.data.io.files import read_records
    from prssm.data.io.records import Choice

    if y is not None:
        raise DataError(
            f"y: the file {path} brings its own outputs, so expected nothing beside it, got a "
            f"{type(y).__name__}"
        )
    return read_records(path, Choice(**columns))


def _from_arrays(u: Any, y: Any) -> list[Record]:
    if _is_list_of_arrays(y):
        if u is not None and len(u) != len(y):
            raise DataError(
                f"data: {len(u)} input arrays but {len(y)} output arrays; expected as many of each"
            )
        pairs = zip([None] * len(y) if u is None else u, y, strict=True)
        return [Record(ui, yi, name=f"record {i}") for i, (ui, yi) in enumerate(pairs)]
    return [Record(u, y)]


def _numbered(record: Record, index: int) -> Record:
    if record.name not in ("record", "frame"):
        return record
    return record.renamed(f"record {index}")


def check_alike(records: list[Record]) -> None:
    """All experiments of a data set measure the same columns at the same rate, in usable units."""
    for record in records:
        check_magnitude(record)
    first = records[0]
    for other in records[1:]:
        for word, a, b in (
            ("inputs", first.input_dim, other.input_dim),
            ("outputs", first.output_dim, other.output_dim),
        ):
            if a != b:
                raise DataError(
                    f"{other.name}: {b} {word}, but {first.name} has {a}; experiments must have "
                    "equal columns"
                )
        if first.dt and other.dt and abs(first.dt - other.dt) > 0.01 * first.dt:
            raise DataError(
                f"{other.name}: sampled every {other.dt:.6g} s, but {first.name} every "
                f"{first.dt:.6g} s"
            )


def check_magnitude(record: Record) -> None:
    """Values so large that their squares may be no number are refused."""
    for word, values, names in (
        ("input", record.u, record.input_names),
        ("output", record.y, record.output_names),
    ):
        bad = np.argwhere(np.abs(values) > LARGEST)
        if len(bad):
            row, column = bad[0]
            raise DataError(
                f"{record.name}: {word} column {names[column]!r} is {values[row, column]:.3g} at "
                f"row {row}; expected at most {LARGEST:g}, use other units"
            )


def check_training(records: list[Record]) -> None:
    """What only training needs: enough rows, and inputs and outputs that move."""
    check_alike(records)
    if records[0].output_dim == 0:
        raise DataError(
            f"{records[0].name}: no outputs y; training needs at least one measured output"
        )
    _check_moving(np.concatenate([r.u for r in records]), records[0].input_names, "input")
    _check_moving(np.concatenate([r.y for r in records]), records[0].output_names, "output")
    rows = sum(map(len, records))
    if rows < LEAST_TRAINING_ROWS:
        raise DataError(
            f"{records[0].name}: {rows} rows are too few to learn from; expected at least "
            f"{LEAST_TRAINING_ROWS}, better some hundred"
        )


def _check_moving(values: np.ndarray, names: tuple[str, ...], word: str) -> None:
    for column, name in zip(values.T, names, strict=True):
        known = column[~np.isnan(column)]
        if not len(known):
            raise DataError(f"{word} column {name!r}: every value is missing in the training data")
        spread = float(np.ptp(known))
        if spread <= ROUNDING * float(np.abs(known).max()):
            raise DataError(
                f"{word} column {name!r} is constant ({known[0]:.6g}) in all training data; "
                f"it carries no information, leave it out"
            )
        if spread < SMALLEST:
            raise DataError(
                f"{word} column {name!r} moves by {spread:.3g} in all training data; expected at "
                f"least {SMALLEST:g}, use other units"
            )
