"""Any data frame (polars, pandas, pyarrow, ...) as columns; also files that polars reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from prssm.data.clock.reading import Asked, stamps_of
from prssm.data.clock.stamps import Stamps
from prssm.data.io.columns import did_you_mean_column, named
from prssm.data.io.text.cells import number
from prssm.foundation.errors import DataError


def _row(row: int) -> str:
    return f"row {row}"


@dataclass(frozen=True)
class FrameColumns:
    """The columns of a frame; `places` says where a person finds a row."""

    where: str
    frame: nw.DataFrame[Any]
    places: Callable[[int], str] = _row
    units: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: Any, where: str, places: Callable[[int], str] = _row) -> "FrameColumns":
        return cls(where, nw.from_native(frame, eager_only=True), places)

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.frame.columns]

    def expand(self, name: str) -> list[str]:
        found = named(name, self.names, self.where)
        if found is None:
            raise DataError(
                f"{self.where}: no column {name!r}.{did_you_mean_column(name, self.names)}"
            )
        return [found]

    def numbers(self, name: str) -> np.ndarray:
        series = self._series(name)
        dtype = series.dtype
        if dtype.is_temporal():
            raise DataError(f"{self.where}: column {name!r} holds dates; only the time column may")
        if dtype.is_numeric() or dtype == nw.Boolean:
            return self._floats(series)
        return np.array([self._number(value, row, name) for row, value in enumerate(series)])

    def stamps(self, name: str, unit: str | None = None) -> Stamps:
        series = self._series(name)
        told = Asked(self.where, self.place, unit)
        dtype = series.dtype
        if isinstance(dtype, nw.Datetime):
            if dtype.time_zone is not None:
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            return stamps_of(series.to_numpy().astype("datetime64[ns]"), name, told)
        if dtype == nw.Date:
            return stamps_of(series.cast(nw.Datetime("us")).to_numpy(), name, told)
        if isinstance(dtype, nw.Duration):
            return stamps_of(series.to_numpy().astype("timedelta64[ns]"), name, told)
        if dtype.is_numeric():
            exact = dtype.is_integer() and not series.is_null().any()
            values = series.to_numpy() if exact else self._floats(series)
            return stamps_of(values, name, told)
        return stamps_of([str(value) for value in series.to_list()], name, told)

    def place(self, row: int) -> str:
        return self.places(row)

    def sampling_time(self, names: Sequence[str]) -> float | None:
        return None

    def _series(self, name: str) -> nw.Series[Any]:
        return self.frame[:, self.names.index(name)]

    def _floats(self, series: nw.Series[Any]) -> np.ndarray:
        values = series.cast(nw.Float64).to_numpy()
        if values.dtype.kind == "f":
            return values.astype(np.float64)
        # a library whose missing values are objects of their own
        listed = series.cast(nw.Float64).to_list()
        return np.array([np.nan if value is None else value for value in listed], np.float64)

    def _number(self, value: Any, row: int, name: str) -> float:
        if value is None:
            return float("nan")
        found = number(value) if isinstance(value, str) else _as_float(value)
        if found is None:
            raise DataError(
                f"{self.where}: column {name!r}, {self.place(row)}: expected a number, got "
                f"{value!r}"
            )
        return found


def _as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
