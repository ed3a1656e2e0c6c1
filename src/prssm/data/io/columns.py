"""A file as named columns.

Numbers are made when a column is asked for, so text in columns nobody needs does no harm.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from prssm.data.clock.reading import Asked, stamps_of
from prssm.data.clock.stamps import Stamps
from prssm.data.clock.texts import is_compact_date
from prssm.data.io.text.cells import decimal_mark, first_doubtful, number
from prssm.foundation.errors import DataError, OptionError, did_you_mean, listed


@dataclass(frozen=True)
class FileWords:
    """What a user may say about a file besides its columns: the decimal mark, a query in SQL."""

    decimal: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise OptionError(f"decimal: expected ',' or '.', got {self.decimal!r}")


NO_WORDS = FileWords()


class FileColumns(Protocol):
    """What every file format offers to `records.records_of`."""

    @property
    def where(self) -> str:
        """The file, for messages."""

    @property
    def names(self) -> list[str]:
        """All column names, in the file's order."""

    @property
    def units(self) -> Mapping[str, str]:
        """The units of those columns that have one."""

    def expand(self, name: str) -> list[str]:
        """The column names behind `name`: itself, or all columns of a matrix variable."""

    def numbers(self, name: str) -> np.ndarray:
        """One column as float64, NaN where a value is missing."""

    def stamps(self, name: str, unit: str | None = None) -> Stamps:
        """One column as time stamps; `unit` is what the user said about them."""

    def place(self, row: int) -> str:
        """Where a person finds row `row` (counted from 0) of the data."""

    def sampling_time(self, names: Sequence[str]) -> float | None:
        """The step in seconds that the file itself gives for these columns, if any."""


def named(name: str, names: Sequence[str], where: str, word: str = "column") -> str | None:
    """The one column that is meant by `name`, also without the unit at its end ('p' for 'p [bar]').

    None where there is none; two of that name are an error.
    """
    meant = [known for known in names if known == name]
    meant = meant or [known for known in names if bare_name(known) == name]
    if len(meant) > 1:
        raise DataError(
            f"{where}: {len(meant)} {word}s are called {name!r}; expected one, rename the others"
        )
    return meant[0] if meant else None


def unit_of(name: str) -> str | None:
    """The unit at the end of a name: 'bar' of 'p [bar]' or 'p (bar)'."""
    found = re.search(r"[\[(]\s*([^\])]+?)\s*[\])]\s*$", name)
    return found[1] if found else None


def bare_name(name: str) -> str:
    """A name without the unit at its end: 'p' of 'p [bar]'."""
    return re.sub(r"\s*[\[(][^\])]*[\])]\s*$", "", name)


def did_you_mean_column(name: str, names: Sequence[str]) -> str:
    """' Did you mean 'x'?' for a column that nobody knows, else the list of what is known.

    A unit that was said counts more than letters: 'valve [V]' may be 'ventil [V]', not 'level [m]'.
    """
    unit = unit_of(name)
    if unit is None:
        return did_you_mean(name, names)
    bare = bare_name(name).lower()
    alike = [known for known in names if bare_name(known).lower() == bare]
    same = [known for known in names if unit_of(known) == unit]
    silent = [known for known in names if unit_of(known) is None]
    return did_you_mean(name, names, among=alike or same or silent)


@dataclass(frozen=True)
class TextColumns:
    """Cells of a text file.

    `lines[i]` is the line, counted from 1 as in an editor, on which row i stands.
    `mark` separates cells. `decimal` is the decimal mark where the user gave one.
    """

    where: str
    names: list[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    has_header: bool = True
    units: Mapping[str, str] = field(default_factory=dict)
    mark: str = ","
    decimal: str | None = None

    def expand(self, name: str) -> list[str]:
        found = named(name, self.names, self.where)
        if found is None:
            note = (
                ""
                if self.has_header
                else " (the file has no header: its columns are called by number)"
            )
            raise DataError(
                f"{self.where}: no column {name!r}{note}.{did_you_mean_column(name, self.names)}"
            )
        return [found]

    def numbers(self, name: str) -> np.ndarray:
        cells = self._cells(name)
        decimal = self._decimal_of(name, cells)
        if decimal == "." and not any("_" in cell for cell in cells):
            try:
                return np.array(cells, dtype=np.float64)
            except ValueError:
                pass  # a missing value or text: go cell by cell, so that the message can name it
        return np.array(
            [self._number(cell, row, name, decimal=decimal) for row, cell in enumerate(cells)]
        )

    def stamps(self, name: str, unit: str | None = None) -> Stamps:
        cells = self._cells(name)
        told = Asked(self.where, self.place, unit)
        if not is_compact_date(cells[:1]) and number(cells[0]) is None:
            if number(cells[0], ",") is None:
                return stamps_of(cells, name, told)
            return stamps_of(self.numbers(name), name, told)
        return stamps_of(self._plain(cells, name), name, told)

    def _plain(self, cells: list[str], name: str) -> list[str] | np.ndarray:
        """Cells that are numbers to the last digit, or else as this file writes numbers."""
        try:
            np.array(cells, dtype=np.float64)
        except ValueError:
            return cells if is_compact_date(cells) else self.numbers(name)
        return cells

    def place(self, row: int) -> str:
        return f"line {self.lines[row]}"

    def sampling_time(self, names: Sequence[str]) -> float | None:
        return None

    def _cells(self, name: str) -> list[str]:
        column = self.names.index(name)
        return [row[column] for row in self.rows]

    @cached_property
    def _has_commas(self) -> bool:
        return any("," in cell for row in self.rows for cell in row)

    @cached_property
    def _file_mark(self) -> str | None:
        """The decimal mark that the file shows as a whole."""
        return decimal_mark(cell for row in self.rows for cell in row)

    def _decimal_of(self, name: str, cells: list[str]) -> str:
        """The decimal mark of a column: as told, as it shows, or as the rest of the file does."""
        if self.decimal is not None:
            return self.decimal
        if not self._has_commas:
            return "."
        shown = decimal_mark(cells)
        if shown == "both":
            raise DataError(
                f"{self.where}: column {name!r} has decimal commas and decimal points; expected "
                "one of them"
            )
        if shown is not None:
            return shown
        if self._file_mark in (",", "."):
            return self._file_mark
        doubtful = first_doubtful(cells)
        if doubtful is not None and self.mark != ";":  # a semicolon leaves the comma to numbers
            raise DataError(
                f"{self.where}: column {name!r}, {self.place(doubtful)}: "
                f"{cells[doubtful].strip()!r} may have a decimal comma or thousands; say "
                "--decimal , or --decimal . (in Python decimal=',')"
            )
        return "." if doubtful is None else ","

    def _number(self, cell: str, row: int, name: str, *, decimal: str) -> float:
        value = number(cell, decimal)
        if value is None:
            place = f"{self.where}: column {name!r}, {self.place(row)}"
            raise DataError(f"{place}: expected a number, got {cell.strip()!r}")
        return value


@dataclass(frozen=True)
class ArrayColumns:
    """Variables of a MAT, NPZ or Parquet file.

    A matrix `X` of k columns is also known as X1 .. Xk.
    """

    where: str
    variables: Mapping[str, np.ndarray]
    word: str = "variable"
    left_out: Mapping[str, str] = field(default_factory=dict)  # variable -> why it is no column
    units: Mapping[str, str] = field(default_factory=dict)
    # texts that may be times; anything else about them is in `left_out`
    texts: Mapping[str, np.ndarray] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        found = [column for name in self.variables for column in self._columns_of(name)]
        return [*found, *self.texts]

    def expand(self, name: str) -> list[str]:
        if name in self.variables:
            return self._columns_of(name)
        found = named(name, self.names, self.where, self.word)
        if found is not None:
            return [found]
        if name in self.left_out:
            raise self._no_numbers(name)
        raise DataError(
            f"{self.where}: no {self.word} {name!r}.{did_you_mean_column(name, self.names)}"
        )

    def numbers(self, name: str) -> np.ndarray:
        if name in self.texts:
            raise self._no_numbers(name)
        values = self._values(name)
        if values.dtype.kind in "Mm":
            raise DataError(
                f"{self.where}: {self.word} {name!r} holds dates; only the time column may"
            )
        return values.astype(np.float64)

    def stamps(self, name: str, unit: str | None = None) -> Stamps:
        told = Asked(self.where, self.place, unit)
        if name in self.texts:
            return stamps_of([str(cell) for cell in self.texts[name]], name, told)
        return stamps_of(self._values(name), name, told)

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def sampling_time(self, names: Sequence[str]) -> float | None:
        """MATLAB's `Ts`, in the structure of the first column or beside it."""
        owner = names[0].rpartition(".")[0]
        step = self.scalars.get(f"{owner}.Ts" if owner else "Ts")
        return step if step is not None and step > 0.0 else None

    def _no_numbers(self, name: str) -> DataError:
        return DataError(
            f"{self.where}: {self.word} {name!r} {self.left_out[name]}; expected a column of "
            "numbers"
        )

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


def as_variables(
    where: str, found: Mapping[str, np.ndarray], word: str = "variable"
) -> ArrayColumns:
    """Numeric vectors and matrices become columns (T, k).

    Anything else is remembered with the reason.
    """
    variables = {}
    left_out = {}
    texts = {}
    scalars = {}
    for name, array in found.items():
        if array.dtype.kind in "bifu" and array.size == 1:
            scalars[name] = float(np.asarray(array).flat[0])
        if array.dtype.kind not in "bifuMm":
            is_text = array.dtype.kind in "SU" or _holds_texts(array)
            left_out[name] = f"holds {'text' if is_text else f'values of type {array.dtype}'}"
            if is_text and array.ndim == 1:
                texts[name] = array
        elif array.size < 2:
            left_out[name] = f"holds {array.size} value{'s' * (array.size != 1)}"
        elif array.ndim > 2:
            left_out[name] = f"has shape {' x '.join(map(str, array.shape))}"
        else:
            variables[name] = array.reshape(-1, 1) if array.ndim == 1 or 1 in array.shape else array
    if not variables and not texts:
        raise DataError(
            f"{where}: no column of numbers in this file; it holds {listed(found) or 'nothing'}"
        )
    return ArrayColumns(where, variables, word, left_out=left_out, texts=texts, scalars=scalars)


def _holds_texts(array: np.ndarray) -> bool:
    return array.dtype.kind == "O" and array.size > 0 and isinstance(array.flat[0], str)
