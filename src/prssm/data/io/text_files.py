"""CSV and its relatives, with or without a header.

Comma, semicolon, tab or blanks between cells; decimal point or comma.
"""

import csv
import io
import re
from pathlib import Path

from prssm.data.io.columns import MISSING, TextColumns, number
from prssm.foundation.errors import DataError, listed

COMMENT = ("#", "%")


def read_text(path: Path) -> TextColumns:
    """The cells of a text file. Without a header the columns are called by number: "1", "2", ..."""
    text = _decoded(path)
    delimiter = _delimiter(text, path)
    rows, lines = _rows(text, delimiter, path)
    if _trailing_delimiter(rows):
        rows = [row[:-1] for row in rows]
    decimal_comma = delimiter == ";"
    has_header = not all(_is_number(cell, decimal_comma) for cell in rows[0])
    names = (
        [cell.strip() for cell in rows[0]]
        if has_header
        else [str(i + 1) for i in range(len(rows[0]))]
    )
    if has_header:
        rows = rows[1:]
        lines = lines[1:]
    _check_names(names, path)
    if not rows:
        raise DataError(f"{path}: no rows of data below the header {listed(names)}")
    return TextColumns(
        str(path), names, rows, lines=lines, has_header=has_header, decimal_comma=decimal_comma
    )


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    if b"\0" in raw:
        raise DataError(f"{path}: expected text, got a binary file; check the file's suffix")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # every byte is a letter there: old Windows logs with a degree sign
        return raw.decode("latin-1")


def _delimiter(text: str, path: Path) -> str:
    """What separates cells, judged by the first line that holds data.

    Quoted text does not count.
    """
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith(COMMENT):
            bare = re.sub(r'"[^"]*"', "", line)
            return next((mark for mark in ";,\t" if mark in bare), " ")
    raise DataError(f"{path}: the file is empty")


def _rows(text: str, delimiter: str, path: Path) -> tuple[list[list[str]], list[int]]:
    rows = []
    lines = []
    reader = csv.reader(
        _without_comments(text, squeeze=delimiter == " "),
        delimiter=delimiter,
        strict=True,
        skipinitialspace=True,
    )
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: not a table of cells: {error}") from None
    if not rows:
        raise DataError(f"{path}: the file is empty")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise DataError(
                f"{path}: line {line} has {len(row)} cells, expected {len(rows[0])} as in line "
                f"{lines[0]}"
            )
    return rows, lines


def _without_comments(text: str, squeeze: bool) -> list[str]:
    """Lines for the csv reader.

    A comment becomes an empty line, so that line numbers stay those of the editor.
    """
    lines = list(io.StringIO(text, newline=None))
    return [
        "\n" if line.lstrip().startswith(COMMENT) else f"{line.strip()}\n" if squeeze else line
        for line in lines
    ]


def _trailing_delimiter(rows: list[list[str]]) -> bool:
    """Every line ends with a delimiter, as some programs write it.

    The last cell is always empty.
    """
    return len(rows[0]) > 1 and all(not row[-1].strip() for row in rows)


def _is_number(cell: str, decimal_comma: bool) -> bool:
    text = cell.strip().lower()
    try:
        number(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return text in MISSING
    return True


def _check_names(names: list[str], path: Path) -> None:
    seen: set[str] = set()
    for column, name in enumerate(names):
        if not name:
            raise DataError(f"{path}: column {column + 1} has no name in the header")
        if name in seen:
            raise DataError(f"{path}: two columns are called {name!r}; expected different names")
        seen.add(name)
