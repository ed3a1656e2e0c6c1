"""A file as named columns.

Numbers are made when a column is asked for, so text in columns nobody needs does no harm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from prssm.foundation.errors import DataError, did_you_mean, listed

# words that mean "not measured", in lower case
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})


class FileColumns(Protocol):
    """What every file format offers to `files.read`."""

    @property
    def where(self) -> str:
        """The file, for messages."""

    @property
    def names(self) -> list[str]:
        """All column names, in the file's order."""

    def expand(self, name: str) -> list[str]:
        """The column names behind `name`: itself, or all columns of a matrix variable."""

    def numbers(self, name: str) -> np.ndarray:
        """One column as float64, NaN where a value is missing."""

    def stamps(self, name: str) -> np.ndarray:
        """One column as seconds.

        Numbers stay as they are, dates and times are counted from the first row.
        """

    def place(self, row: int) -> str:
        """Where a person finds row `row` (counted from 0) of the data."""


@dataclass(frozen=True)
class TextColumns:
    """Cells of a text file.

    `lines[i]` is the line, counted from 1 as in an editor, on which row i stands.
    """

    where: str
    names: list[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    has_header: bool = True
    decimal_comma: bool = False

    def expand(self, name: str) -> list[str]:
        if name not in self.names:
            note = (
                ""
                if self.has_header
                else " (the file has no header: its columns are called by number)"
            )
            raise DataError(
                f"{self.where}: no column {name!r}{note}.{did_you_mean(name, self.names)}"
            )
        return [name]

    def numbers(self, name: str) -> np.ndarray:
        cells = self._cells(name)
        try:
            if not any("_" in cell for cell in cells):
                return np.array(cells, dtype=np.float64)
        except ValueError:
            pass  # a missing value or text
        # cell by cell, so that the message can name the line
        return np.array([self._number(cell, row, name) for row, cell in enumerate(cells)])

    def stamps(self, name: str) -> np.ndarray:
        cells = self._cells(name)
        try:
            number(cells[0])
        except ValueError:
            return _seconds(cells, f"{self.where}: column {name!r}")
        return self.numbers(name)

    def place(self, row: int) -> str:
        return f"line {self.lines[row]}"

    def _cells(self, name: str) -> list[str]:
        column = self.names.index(name)
        cells = [row[column] for row in self.rows]
        return [cell.replace(",", ".") for cell in cells] if self.decimal_comma else cells

    def _number(self, cell: str, row: int, name: str) -> float:
        if cell.strip().lower() in MISSING:
            return np.nan
        try:
            return number(cell)
        except ValueError:
            place = f"{self.where}: column {name!r}, {self.place(row)}"
            raise DataError(f"{place}: expected a number, got {cell.strip()!r}") from None


@dataclass(frozen=True)
class ArrayColumns:
    """Variables of a MAT, NPZ or Parquet file.

    A matrix `X` of k columns is also known as X1 .. Xk.
    """

    where: str
    variables: Mapping[str, np.ndarray]
    word: str = "variable"
    left_out: Mapping[str, str] = field(default_factory=dict)  # variable -> why it is no column

    @property
    def names(self) -> list[str]:
        return [column for name in self.variables for column in self._columns_of(name)]

    def expand(self, name: str) -> list[str]:
        if name in self.variables:
            return self._columns_of(name)
        if name in self.names:
            return [name]
        if name in self.left_out:
            raise DataError(
                f"{self.where}: {self.word} {name!r} {self.left_out[name]}; expected a column of "
                "numbers"
            )
        raise DataError(f"{self.where}: no {self.word} {name!r}.{did_you_mean(name, self.names)}")

    def numbers(self, name: str) -> np.ndarray:
        values = self._values(name)
        if values.dtype.kind == "M":
            raise DataError(
                f"{self.where}: {self.word} {name!r} holds dates; only the time column may"
            )
        return values.astype(np.float64)

    def stamps(self, name: str) -> np.ndarray:
        values = self._values(name)
        return (
            _seconds(values, f"{self.where}: {self.word} {name!r}")
            if values.dtype.kind == "M"
            else self.numbers(name)
        )

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def _columns_of(self, name: str) -> list[str]:
        width = self.variables[name].shape[1]
        return [name] if width == 1 else [f"{name}{i + 1}" for i in range(width)]

    def _values(self, name: str) -> np.ndarray:
        if name in self.variables:
            return self.variables[name][:, 0]
        owner, column = next(
            (owner, self._columns_of(owner).index(name))
            for owner in self.variables
            if name in self._columns_of(owner)
        )
        return self.variables[owner][:, column]


def number(cell: str) -> float:
    """The number in a cell; 1_0 is one to Python alone, and more likely a name or a slip."""
    if "_" in cell:
        raise ValueError(f"not a number: {cell!r}")
    return float(cell)


def as_variables(
    where: str, found: Mapping[str, np.ndarray], word: str = "variable"
) -> ArrayColumns:
    """Numeric vectors and matrices become columns (T, k).

    Anything else is remembered with the reason.
    """
    variables = {}
    left_out = {}
    for name, array in found.items():
        if array.dtype.kind not in "bifuM":
            left_out[name] = (
                f"holds {'text' if array.dtype.kind in 'SU' else f'values of type {array.dtype}'}"
            )
        elif array.size < 2:
            left_out[name] = f"holds {array.size} value{'s' * (array.size != 1)}"
        elif array.ndim > 2:
            left_out[name] = f"has shape {' x '.join(map(str, array.shape))}"
        else:
            variables[name] = array.reshape(-1, 1) if array.ndim == 1 or 1 in array.shape else array
    if not variables:
        raise DataError(
            f"{where}: no column of numbers in this file; it holds {listed(found) or 'nothing'}"
        )
    return ArrayColumns(where, variables, word, left_out=left_out)


def _seconds(stamps: Sequence[str] | np.ndarray, where: str) -> np.ndarray:
    try:
        moments = np.array(stamps, dtype="datetime64[ns]")
    except ValueError as error:
        raise DataError(
            f"{where}: expected seconds or ISO dates (2024-05-31T12:00:00): {error}"
        ) from None
    return (moments - moments[0]) / np.timedelta64(1, "s")
