"""Parquet and NPZ files as columns."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prssm.data.io.columns import NO_WORDS, ArrayColumns, FileWords, as_variables
from prssm.data.io.npz_members import npz_members
from prssm.foundation.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from prssm.data.io.frames import FrameColumns


def read_parquet(
    path: Path, words: FileWords = NO_WORDS, rows: slice = slice(None)
) -> "FrameColumns":
    """All rows, or some of them; the others are then never in memory."""
    from prssm.data.io.frames import FrameColumns

    begin = rows.start or 0
    frame = _collected(
        path, lambda lazy: lazy.slice(begin, None if rows.stop is None else rows.stop - begin)
    )
    if not frame.height:
        raise DataError(f"{path}: no rows of data in this file")
    return FrameColumns.of(frame, str(path), lambda row: f"row {begin + row + 1}")


def parquet_rows(path: Path) -> int:
    """How many rows the file has, by its index."""
    return int(_collected(path, lambda lazy: lazy.select(import_polars().len())).item())


def _collected(path: Path, what: Callable[[Any], Any]) -> Any:
    """A part of a Parquet file as a frame."""
    polars = import_polars()
    try:
        return what(polars.scan_parquet(path, glob=False)).collect()
    # polars' own panic is no Exception: it comes from Rust
    except (polars.exceptions.PolarsError, OSError, polars.exceptions.PanicException) as error:
        raise DataError(
            f"{path}: not a whole Parquet file (truncated or of another kind): {_first_line(error)}"
        ) from None


def import_polars() -> Any:
    """polars, or the line that says how to get it: the numerical core runs without."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError(
            "Parquet files need the package polars: pip install polars"
        ) from None
    return polars


def read_npz(path: Path, words: FileWords = NO_WORDS) -> ArrayColumns:
    """All arrays of an NPZ file."""
    return as_variables(str(path), npz_members(path))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
