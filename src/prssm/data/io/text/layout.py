"""How a text table is laid out: its letters, what separates cells, where the table begins."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prssm.data.io.text.cells import MISSING, is_value
from prssm.foundation.errors import DataError, listed

COMMENT = ("#", "%")
MARKS = (";", "\t", ",", "|", " ")
_LONG = 100_000  # letters of a text that are looked at in one place
_JUDGED = 40  # lines by which the separator is judged
_LONGEST_UNIT = 16  # letters
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Layout:
    """The rows of a table below its header; `lines[i]` is the line of row i in an editor."""

    names: list[str]
    has_header: bool
    units: dict[str, str]
    rows: list[list[str]]
    lines: list[int]
    mark: str


def layout_of(path: Path) -> Layout:
    """The table in a text file."""
    text = decoded(path)
    mark = _separator(text, path)
    rows, lines = _rows(text, mark, path)
    rows, lines = _table(rows, lines, path)
    if _trailing_mark(rows):
        rows = [row[:-1] for row in rows]
    has_header = not all(map(is_value, rows[0]))
    names = [str(i + 1) for i in range(len(rows[0]))]
    units: dict[str, str] = {}
    if has_header:
        names = [cell.strip() or names[i] for i, cell in enumerate(rows[0])]
        rows = rows[1:]
        lines = lines[1:]
        if _is_units_row(rows):
            units = _named_units(names, rows[0])
            rows = rows[1:]
            lines = lines[1:]
    if not rows:
        raise DataError(f"{path}: no rows of data below the header {listed(names)}")
    return Layout(names, has_header, units, rows, lines, mark)


def decoded(path: Path) -> str:
    """The text of a file: UTF-8, UTF-16 with its mark, else Latin-1."""
    raw = path.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not a whole UTF-16 text: {error.reason}") from None
    if b"\0" in raw:
        raise DataError(f"{path}: expected text, got a binary file; check the file's suffix")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # every byte is a letter there: old Windows logs with a degree sign
        return raw.decode("latin-1")


def _is_text(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(COMMENT)


def _separator(text: str, path: Path) -> str:
    """What separates cells: the mark that cuts the last lines into equally many values.

    The first lines may be a preamble; they only decide between marks that do equally well.
    """
    lines = [line for line in _some_lines(text) if _is_text(line)]
    if not lines:
        raise DataError(f"{path}: the file is empty")
    if lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        return lines[0].strip()[-1]  # as Excel writes and reads it
    first = _QUOTED.sub("1", lines[0]).strip()
    judged = [_QUOTED.sub("1", line).strip() for line in lines[max(1, len(lines) // 2) :][:_JUDGED]]
    judged = judged or [first]
    best = max(MARKS, key=lambda mark: (*_merit(judged, first, mark), -MARKS.index(mark)))
    return best if _merit(judged, first, best)[0] > 0.0 else _in_first_line(first)


def _some_lines(text: str) -> list[str]:
    """All lines of a text; of a long one whole lines from its begin and from its middle."""
    if len(text) <= 2 * _LONG:
        return text.splitlines()
    middle = len(text) // 2
    whole = [
        *text[:_LONG].splitlines()[:-1],
        *text[middle : middle + _LONG].splitlines()[1:-1],
    ]
    return whole or text.splitlines()  # lines of thousands of columns


def _merit(judged: Sequence[str], first: str, mark: str) -> tuple[float, bool]:
    """The share of values among the cells, and whether the first line has as many cells."""
    cut = [_cut(line, mark) for line in judged]
    width, count = Counter(map(len, cut)).most_common(1)[0]
    if width < 2:
        return 0.0, False
    cells = [cell for line in cut if len(line) == width for cell in line]
    share = sum(map(is_value, cells)) / len(cells)
    return share * count / len(cut), len(_cut(first, mark)) == width


def _cut(line: str, mark: str) -> list[str]:
    return line.split() if mark == " " else line.split(mark)


def _in_first_line(first: str) -> str:
    return next((mark for mark in MARKS[:-1] if mark in first), " ")


def _rows(text: str, mark: str, path: Path) -> tuple[list[list[str]], list[int]]:
    rows = []
    lines = []
    reader = csv.reader(
        _without_comments(text, squeeze=mark == " "),
        delimiter=mark,
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
    return rows, lines


def _without_comments(text: str, squeeze: bool) -> Iterator[str]:
    """Lines for the csv reader.

    A comment becomes an empty line, so that line numbers stay those of the editor.
    """
    for number, line in enumerate(io.StringIO(text, newline=None)):
        is_mark = number == 0 and line.lower().startswith("sep=")
        if is_mark or line.lstrip().startswith(COMMENT):
            yield "\n"
        else:
            yield f"{' '.join(line.split())}\n" if squeeze else line


def _table(
    rows: list[list[str]], lines: list[int], path: Path
) -> tuple[list[list[str]], list[int]]:
    """The rows of equal width; lines of words above the header are left out."""
    begin = _preamble(rows)
    width = len(rows[begin])
    for row, line in zip(rows[begin:], lines[begin:], strict=True):
        if len(row) != width:
            raise DataError(
                f"{path}: line {line} has {len(row)} cells, expected {width} as in line "
                f"{lines[begin]}"
            )
    return rows[begin:], lines[begin:]


def _preamble(rows: list[list[str]]) -> int:
    """How many rows stand above the header: they have another width, and none of them is data."""
    width = len(rows[-1])
    begin = len(rows)
    while begin > 0 and len(rows[begin - 1]) == width:
        begin -= 1
    if begin == 0 or width < 2 or len(rows) - begin < 3:
        return 0
    above = rows[:begin]
    is_header = not any(_is_number(cell) for cell in rows[begin])
    no_data = not any(len(row) > 1 and all(map(is_value, row)) for row in above)
    return begin if is_header and no_data else 0


def _is_number(cell: str) -> bool:
    return is_value(cell) and cell.strip().lower() not in MISSING


def _trailing_mark(rows: list[list[str]]) -> bool:
    """Every line ends with a separator, as some programs write it.

    The last cell is always empty.
    """
    return len(rows[0]) > 1 and all(not row[-1].strip() for row in rows)


def _is_units_row(rows: list[list[str]]) -> bool:
    """Words only (V, bar, [s], -) above a row that has a number in a place of one of them."""
    if len(rows) < 2:
        return False
    cells = [cell.strip() for cell in rows[0]]
    words = [cell for cell in cells if cell.lower() not in MISSING]
    if not words or any(is_value(cell) for cell in words):
        return False
    if any(len(cell) > _LONGEST_UNIT for cell in words):
        return False
    below = rows[1]
    return all(is_value(value) for cell, value in zip(cells, below, strict=True) if cell in words)


def _named_units(names: list[str], row: list[str]) -> dict[str, str]:
    cells = [cell.strip().strip("[]()").strip() for cell in row]
    return {
        name: unit
        for name, unit in zip(names, cells, strict=True)
        if unit and unit.lower() not in MISSING
    }
