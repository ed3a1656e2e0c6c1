"""Data frames of any library (pandas, polars, pyarrow, xarray, ...) as Records."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError

# what the time index of a frame is called where it has no name
INDEX = "time"


def is_frame(data: Any) -> bool:
    """Whether these are named columns: a data frame, or an xarray data set."""
    return (hasattr(data, "columns") and hasattr(data, "__getitem__")) or _is_xarray(data)


def is_series(data: Any) -> bool:
    """Whether this is one named column."""
    return hasattr(data, "name") and hasattr(data, "to_numpy") and not is_frame(data)


def column_names(frame: Any) -> list[str]:
    """The columns of a frame, its time index included."""
    return [str(name) for name in _with_index(frame).columns]


def from_frame(
    frame: Any,
    *,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    time: str | None = None,
    name: str = "frame",
) -> Record:
    """A Record from the named columns of any data frame. Missing outputs become NaN.

    An index of dates or durations is the time column where no other is named.
    """
    from prssm.data.io.frames import FrameColumns
    from prssm.data.io.records import Choice, record_of

    whole = _with_index(frame)
    if time is None and whole is not frame and INDEX not in _names(inputs) + _names(outputs):
        time = _time_index(frame)
    record = record_of(FrameColumns.of(whole, name), Choice(inputs, outputs, time))
    return record.changed(library=_library(frame))


def with_outputs(
    frame: Any,
    y: Any,
    *,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    time: str | None = None,
    name: str = "frame",
) -> Record:
    """A Record from a frame of inputs and a frame, series or array of outputs beside it."""
    whole = _with_index(frame)
    time = time or (_time_index(frame) if whole is not frame else None)
    wanted = inputs or [column for column in column_names(frame) if column != time]
    given = from_frame(frame, inputs=wanted, outputs=[], time=time, name=name)
    if is_frame(y):
        chosen = outputs or [str(column) for column in y.columns]
        measured = from_frame(y, inputs=[], outputs=chosen, name=name)
        values = measured.y
        names: Sequence[str] = measured.output_names
    else:
        values = np.asarray(y, dtype=np.float64)
        names = _names(outputs) or ([str(y.name)] if is_series(y) and y.name is not None else [])
    if len(values) != len(given):
        raise DataError(
            f"{name}: {len(given)} rows of inputs, but {len(values)} of outputs; expected the same "
            "number"
        )
    return Record(
        given.u,
        values,
        given.dt,
        input_names=given.input_names,
        output_names=names,
        name=name,
        stamps=given.stamps,
        library=given.library,
    )


def _names(names: Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _is_xarray(data: Any) -> bool:
    return type(data).__module__.startswith("xarray.") and hasattr(data, "to_dataframe")


def _library(frame: Any) -> str:
    """The package that the frame is from, so that predictions can be of the same kind."""
    module = type(frame).__module__.partition(".")[0]
    return "pandas" if module == "xarray" else module


def _time_index(frame: Any) -> str | None:
    """What the time index of a frame is called; None where the index is no time."""
    if _is_xarray(frame):
        frame = frame.to_dataframe()
    index: Any = getattr(frame, "index", None)
    kind = getattr(getattr(index, "dtype", None), "kind", "")
    if kind not in "Mm" or not kind:
        return None
    return str(index.name) if index.name is not None else INDEX


def _with_index(frame: Any) -> Any:
    """The frame with its index as a column where that has a name or is a time; else as it is."""
    if _is_xarray(frame):
        table = frame.to_dataframe()
        if table.index.nlevels > 1:
            raise DataError(
                f"data: expected an xarray with one dimension, time, got {', '.join(frame.dims)}"
            )
        return table.reset_index()
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    name = _time_index(frame)
    if name is None and getattr(index, "name", None) is None:
        return frame
    if name is not None and index.name is None:
        return frame.rename_axis(name).reset_index()
    return frame.reset_index()
