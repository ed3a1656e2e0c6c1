"""Any column of time stamps (numbers, dates, texts) to `Stamps`."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.clock.numeric import counted
from prssm.data.clock.stamps import Stamps
from prssm.data.clock.texts import ORDERS, is_compact_date, read_texts

Place = Callable[[int], str]


class Asked(NamedTuple):
    """Where the column is from, how a row of it is called, and what the user said about it."""

    where: str
    place: Place
    unit: str | None = None


def stamps_of(values: np.ndarray | Sequence[str], name: str, asked: Asked) -> Stamps:
    """The column `name` as time stamps."""
    cells = np.asarray(values, dtype=object if isinstance(values, list) else None)
    if cells.dtype.kind == "M":
        moments = cells.astype("datetime64[ns]")
        seconds = _nanoseconds(moments) * 1e-9
        start = None if np.isnat(moments[0]) else moments[0]
        return Stamps(name, cells, seconds, start)
    if cells.dtype.kind == "m":
        return Stamps(name, cells, _nanoseconds(cells.astype("timedelta64[ns]")) * 1e-9)
    if cells.dtype.kind in "OUS":
        return _of_texts([str(cell) for cell in cells], name, asked)
    return _of_numbers(cells, cells, name, unit=asked.unit)


def _of_texts(cells: list[str], name: str, asked: Asked) -> Stamps:
    unit = asked.unit
    numbers = None if is_compact_date(cells) else _as_numbers(cells)
    if numbers is not None:
        return _of_numbers(numbers, np.array(cells, dtype=object), name, unit=unit)
    order = unit if unit in ORDERS else None
    read = read_texts(cells, f"{asked.where}: time column {name!r}", asked.place, order)
    return Stamps(name, np.array(cells, dtype=object), read.seconds, read.start, read.notes)


def _of_numbers(numbers: np.ndarray, cells: np.ndarray, name: str, *, unit: str | None) -> Stamps:
    read = counted(numbers, name, unit)
    return Stamps(name, cells, read.seconds, read.start, (read.note,) if read.note else ())


def _as_numbers(cells: list[str]) -> np.ndarray | None:
    """Whole numbers without rounding, else floats; None where one is neither.

    Nanoseconds since 1970 have more digits than a float keeps.
    """
    for kind in (np.int64, np.float64):
        try:
            return np.array(cells, dtype=kind)
        except (ValueError, OverflowError):
            continue
    return None


def _nanoseconds(moments: np.ndarray) -> np.ndarray:
    """Since the first row; NaN where there is no moment."""
    away = (moments - moments[0]).astype(np.int64).astype(np.float64)
    return np.where(np.isnat(moments), np.nan, away)
