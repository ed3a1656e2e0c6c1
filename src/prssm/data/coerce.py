"""Whatever a user brings becomes a list of Records here.

Records, arrays, data frames and lists of them are taken.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError, did_you_mean

LARGEST = 1e100


def as_records(
    data: Any,
    y: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    time: str | None = None,
) -> list[Record]:
    """A list of Records from whatever a user brings.

    That is a Record, `(u, y)` arrays, a data frame with named columns, or a list of any of these.
    """
    if _is_whole(data) and y is not None:
        raise DataError(
            f"y: a {type(data).__name__} brings its own outputs, so expected nothing beside it, "
            f"got a {type(y).__name__}"
        )
    if isinstance(data, Record):
        return [data]
    if _is_frame(data):
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
        "data: expected a Record, (u, y) arrays, a data frame or a list of these, got "
        f"{type(data).__name__}"
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


def from_frame(
    frame: Any,
    *,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    time: str | None = None,
    name: str = "frame",
) -> Record:
    """A Record from the named columns of any data frame (pandas, polars, pyarrow, ...).

    Missing outputs become NaN.
    """
    import narwhals as nw

    columns = nw.from_native(frame, eager_only=True)
    if outputs is None and inputs is None:
        raise DataError(
            f"{name}: say which columns are inputs and outputs, e.g. inputs=['u'], outputs=['y'] "
            f"(on the command line -u u -y y); "
            f"the columns are {', '.join(columns.columns)}"
        )
    u = _numbers(columns, inputs, name) if inputs else None
    y = _numbers(columns, outputs, name) if outputs else None
    stamps = _numbers(columns, [time], name)[:, 0] if time else None
    return Record(
        u, y, input_names=_listed(inputs), output_names=_listed(outputs), name=name, time=stamps
    )


def _is_whole(data: Any) -> bool:
    """One experiment with inputs and outputs in it."""
    return isinstance(data, Record) or _is_frame(data)


def _is_pair(data: Any) -> bool:
    """(u, y), each an array or a list of arrays; two Records or frames are two experiments."""
    return isinstance(data, tuple) and len(data) == 2 and not _is_whole(data[0])


def _is_list_of_arrays(y: Any) -> bool:
    return isinstance(y, list | tuple) and len(y) > 0 and np.ndim(y[0]) > 0


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def _listed(names: Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _numbers(columns: Any, names: Sequence[str], where: str) -> np.ndarray:
    return np.stack([_column(columns, name, where) for name in _listed(names)], axis=1)


def _column(columns: Any, name: str, where: str) -> np.ndarray:
    if name not in columns.columns:
        raise DataError(f"{where}: no column {name!r}.{did_you_mean(name, columns.columns)}")
    series = columns[name]
    if str(series.dtype).startswith("Datetime"):
        values = series.to_numpy().astype("datetime64[ns]").astype(np.int64)
        return (values - values[0]) * 1e-9
    values = series.to_list()
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"{where}: column {name!r}, row {row}: expected a number, got {value!r}"
            ) from None
    return numbers


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
    return Record(
        record.u,
        record.y if record.output_dim else None,
        record.dt,
        input_names=record.input_names,
        output_names=record.output_names,
        name=f"record {index}",
    )


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
    """What only training needs: outputs that are there and that move, inputs that move."""
    check_alike(records)
    if records[0].output_dim == 0:
        raise DataError(
            f"{records[0].name}: no outputs y; training needs at least one measured output"
        )
    _check_moving(np.concatenate([r.u for r in records]), records[0].input_names, "input")
    _check_moving(np.concatenate([r.y for r in records]), records[0].output_names, "output")


def _check_moving(values: np.ndarray, names: tuple[str, ...], word: str) -> None:
    for column, name in zip(values.T, names, strict=True):
        known = column[~np.isnan(column)]
        if not len(known):
            raise DataError(f"{word} column {name!r}: every value is missing in the training data")
        if np.ptp(known) <= 1e-12 * max(1.0, float(np.abs(known).max())):
            raise DataError(
                f"{word} column {name!r} is constant ({known[0]:.6g}) in all training data; "
                f"it carries no information, leave it out"
            )
