"""Spreadsheets, Arrow files and data bases, each through a reader that others maintain."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prssm.data.io.binary_files import import_polars
from prssm.data.io.columns import NO_WORDS, FileWords
from prssm.data.io.frames import FrameColumns
from prssm.data.io.text.cells import MISSING, is_value
from prssm.foundation.errors import DataError, MissingExtraError


def read_arrow(path: Path, words: FileWords = NO_WORDS) -> FrameColumns:
    """Feather and Arrow files."""
    polars = import_polars()
    with _damage(path, "an Arrow file"):
        return FrameColumns.of(polars.read_ipc(path), str(path), _row_of_file)


def read_spreadsheet(path: Path, words: FileWords = NO_WORDS) -> FrameColumns:
    """The first sheet of an Excel or OpenDocument file; its first row has the names."""
    polars = import_polars()
    try:
        import fastexcel  # noqa: F401 - polars uses it
    except ImportError:
        raise MissingExtraError(
            f"{path}: spreadsheets need the extra excel: pip install 'prssm[excel]'"
        ) from None
    reader = polars.read_ods if path.suffix.lower() == ".ods" else polars.read_excel
    with _damage(path, "a spreadsheet"), _unsaid("calamine", "fastexcel"):
        frame = reader(path, infer_schema_length=None, drop_empty_rows=True)
    if not frame.height:
        raise DataError(f"{path}: no rows of data in the first sheet")
    columns = FrameColumns.of(frame, str(path), lambda row: f"row {row + 2}")
    return _without_units_row(columns)


def read_sqlite(path: Path, words: FileWords = NO_WORDS) -> FrameColumns:
    """What a query gives from an SQLite data base, or its only table."""
    polars = import_polars()
    with _damage(path, "an SQLite data base"):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            listed = connection.execute(
                "select name from sqlite_master where type in ('table', 'view') order by name"
            )
            tables = [name for (name,) in listed]
            query = _query(path, words.query, tables)
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchall()
        finally:
            connection.close()
    _check_rows(path, query, len(rows))
    frame = polars.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    return FrameColumns.of(frame, str(path), _row_of_file)


def read_duckdb(path: Path, words: FileWords = NO_WORDS) -> FrameColumns:
    """What a query gives from a DuckDB data base, or its only table."""
    import_polars()
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError(
            f"{path}: DuckDB files need the extra sql: pip install 'prssm[sql]'"
        ) from None
    with _damage(path, "a DuckDB data base"), duckdb.connect(str(path), read_only=True) as base:
        tables = [
            name
            for (name,) in base.execute(
                "select table_name from information_schema.tables order by 1"
            ).fetchall()
        ]
        query = _query(path, words.query, tables)
        frame = base.sql(query).pl()
    _check_rows(path, query, frame.height)
    return FrameColumns.of(frame, str(path), _row_of_file)


def _query(path: Path, query: str | None, tables: list[str]) -> str:
    """The user's query, or all of the only table."""
    if query is not None:
        return query
    if len(tables) == 1:
        return f'select * from "{tables[0]}"'
    raise DataError(
        f'{path}: say which rows with --query, e.g. --query "select * from '
        f'{tables[0] if tables else "log"}" (in Python query=...); the tables are '
        f"{', '.join(tables) or 'none'}"
    )


def _check_rows(path: Path, query: str, rows: int) -> None:
    if not rows:
        raise DataError(f"{path}: the query gives no rows: {query}")


def _row_of_file(row: int) -> str:
    return f"row {row + 1}"


def _without_units_row(columns: FrameColumns) -> FrameColumns:
    """A first row of words (V, bar, [s]) above numbers holds units."""
    first = [columns.frame[0, i] for i in range(len(columns.names))]
    texts = [str(cell).strip() for cell in first if isinstance(cell, str) and cell.strip()]
    words = [text for text in texts if text.lower() not in MISSING]
    known = [cell for cell in first if cell is not None and not isinstance(cell, str)]
    if not words or known or columns.frame.shape[0] < 2 or any(map(is_value, words)):
        return columns
    below = [columns.frame[1, i] for i in range(len(columns.names))]
    if not all(is_value(str(cell)) for cell in below if cell is not None):
        return columns
    units = {
        name: str(cell).strip().strip("[]()")
        for name, cell in zip(columns.names, first, strict=True)
        if cell is not None and str(cell).strip().lower() not in MISSING
    }
    return FrameColumns(columns.where, columns.frame[1:], lambda row: f"row {row + 3}", units)


@contextmanager
def _damage(path: Path, kind: str) -> Iterator[None]:
    """A reader's error as one line; the readers have dozens of kinds of them."""
    try:
        yield
    except (DataError, MissingExtraError, KeyboardInterrupt):
        raise
    except Exception as error:
        line = _first_line(error)
        raise DataError(f"{path}: cannot be read as {kind}: {line}") from None


@contextmanager
def _unsaid(*names: str) -> Iterator[None]:
    """Words of these loggers reach whoever listens, but not the terminal of who does not."""
    silent = logging.NullHandler()
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addHandler(silent)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(silent)


def _first_line(error: Any) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
