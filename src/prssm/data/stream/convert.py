"""Files to a stream: read once, piece by piece.

So neither one long file nor many need fit in memory.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from prssm.data.clock.rules import Duplicates, Gaps, TimeRules
from prssm.data.coerce import ROUNDING, check_alike
from prssm.data.io.binary_files import parquet_rows, read_parquet
from prssm.data.io.columns import FileWords
from prssm.data.io.files import READERS, AnyPath, read_records
from prssm.data.io.records import Choice, Names, records_of
from prssm.data.record import Record
from prssm.data.stream.stream import INDEX, KIND, ROWS, Stream
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError

BLOCK = 100_000  # rows of a Parquet file that are in memory at once; the last piece has the rest
# of a column, relative to its mean: with less, single precision would lose what was recorded
_LEAST_SPREAD = 1e-4


def convert(
    sources: AnyPath | Sequence[AnyPath],
    folder: AnyPath,
    *,
    inputs: Names = None,
    outputs: Names = None,
    time: str | None = None,
    dt: float | None = None,
    gaps: Gaps = "error",
    sort: bool = False,
    duplicates: Duplicates = "error",
    resample: float | str | None = None,
    time_unit: str | None = None,
    decimal: str | None = None,
    query: str | None = None,
) -> Stream:
    """Write the experiments of a file, of files, or of all files of folders, to a stream.

    The sources stay as they are; all keywords are those of `read`. A Parquet file of many rows is
    read in pieces: `sort`, `duplicates` and `resample` need all rows at once and are refused there.

    The folder has an index only when everything is there; a conversion that fails leaves none.
    """
    rules = TimeRules(gaps, sort, duplicates, resample=resample, unit=time_unit)
    words = FileWords(decimal, query)
    folder = Path(folder)
    files = _files([sources] if isinstance(sources, str | os.PathLike) else sources)
    if (folder / INDEX).exists():
        raise DataError(
            f"{folder}: there is a stream already; name another folder, or remove it first"
        )
    writer = _Writer()
    with replacing(folder / ROWS) as stream:
        for file in files:
            choice = Choice(inputs, outputs, time, dt=dt, rules=rules)
            for piece, repeated in _pieces(file, choice, words):
                if not repeated:
                    writer.begin(piece.name)
                writer.add(piece, repeated, stream)
                # the first file's, for all
                inputs = list(piece.input_names)
                outputs = list(piece.output_names)
        index = writer.index()  # what it refuses leaves no rows behind
    try:
        with replacing(folder / INDEX) as stream:
            stream.write(json.dumps(index, indent=1).encode())
    except BaseException:
        (folder / ROWS).unlink(missing_ok=True)
        raise
    return Stream.open(folder)


def _files(sources: Sequence[AnyPath]) -> list[Path]:
    found: list[Path] = []
    for source in map(Path, sources):
        inside = (
            sorted(path for path in source.iterdir() if path.suffix.lower() in READERS)
            if source.is_dir()
            else [source]
        )
        if not inside:
            raise DataError(
                f"{source}: no file in this folder that can be read; expected {', '.join(READERS)}"
            )
        found += inside
    if not found:
        raise DataError("convert: expected at least one file or folder, got none")
    return found


def _pieces(path: Path, choice: Choice, words: FileWords) -> Iterator[tuple[Record, int]]:
    """Experiments in pieces, each with the number of its first rows that were in the piece before.

    Pieces of a Parquet file overlap by a row, so that a gap in time between them is seen too.
    """
    if path.suffix.lower() != ".parquet" or not path.is_file():
        for record in read_records(path, choice, words):
            yield record, 0
        return
    blocks = _blocks(parquet_rows(path))
    if len(blocks) > 1:
        _check_rules(path, choice.rules, rows=blocks[-1].stop)
    count = 0  # of the file's experiments
    ended: Any = None  # the time of the last row that was handed out
    for block in blocks:
        repeated = min(block.start, 1)
        rows = slice(block.start - repeated, block.stop)
        for place, record in enumerate(records_of(read_parquet(path, rows=rows), choice)):
            cells = _time_cells(record, choice)
            goes_on = bool(repeated) and place == 0 and cells[0] == ended
            count += not goes_on
            name = record.name if count == 1 else f"{path.name} part {count}"
            yield record.renamed(name), int(goes_on)
            ended = cells[-1]


def _time_cells(record: Record, choice: Choice) -> Sequence[Any]:
    """The time of every row, by which a part of a split log goes on in the next piece.

    Others have one part in every piece, which always goes on.
    """
    if record.stamps is None or choice.rules.gaps != "split":
        return [None]
    return list(record.stamps.cells)


def _blocks(rows: int) -> list[slice]:
    """Consecutive rows; the last block is never short, or a gap would pass for its step."""
    edges = [*range(0, rows - BLOCK + 1, BLOCK)] or [0]
    return [slice(begin, end) for begin, end in pairwise([*edges, rows])]


def _check_rules(path: Path, rules: TimeRules, rows: int) -> None:
    plain = TimeRules()
    for name in ("sort", "duplicates", "resample"):
        if getattr(rules, name) != getattr(plain, name):
            raise DataError(
                f"{path}: {name} needs all {rows} rows at once, but so many are read in pieces of "
                f"{BLOCK}; do it before, and write the file anew"
            )


def _lost_in_single(values: np.ndarray) -> dict[str, bool]:
    """Whether there are values that single precision does not have."""
    size = np.abs(values[np.isfinite(values) & (values != 0.0)])
    limits = np.finfo(KIND)
    return {"large": bool((size > limits.max).any()), "small": bool((size < limits.tiny).any())}


class _Writer:
    """Appends experiments to the file of rows and keeps their statistics."""

    def __init__(self) -> None:
        self.first: Record | None = None
        self.names: list[str] = []
        self.lengths: list[int] = []
        self.digest = hashlib.sha256()
        self.count = self.mean = self.squares = np.zeros(0)
        self.low = self.high = np.zeros(0)

    def begin(self, name: str) -> None:
        """What is added from now on is another experiment."""
        self.names.append(name)
        self.lengths.append(0)

    def add(self, piece: Record, repeated: int, stream: IO[bytes]) -> None:
        """The rows of a piece but its first ones, which the piece before had."""
        if self.first is None:
            self.first = piece
        check_alike([self.first, piece])
        exact = np.concatenate([piece.u, piece.y], axis=1)[repeated:]
        for word, lost in _lost_in_single(exact).items():
            if lost:
                raise DataError(
                    f"{piece.name}: a value is too {word} for single precision; use other units"
                )
        values = exact.astype(KIND)
        data = values.tobytes()
        stream.write(data)
        self.digest.update(data)
        self.lengths[-1] += len(values)
        self._count(values.astype(np.float64))

    def _count(self, values: np.ndarray) -> None:
        """Mean and sum of squared deviations of each column, joined with those so far.

        Missing values are left out.
        """
        count = np.sum(~np.isnan(values), axis=0).astype(np.float64)
        mean = np.nansum(values, axis=0) / np.maximum(count, 1.0)
        squares = np.nansum((values - mean) ** 2, axis=0)
        low = np.fmin.reduce(values, axis=0)
        high = np.fmax.reduce(values, axis=0)
        if not self.count.size:
            self.low = low
            self.high = high
            self.count = count
            self.mean = mean
            self.squares = squares
            return
        self.low = np.fmin(self.low, low)
        self.high = np.fmax(self.high, high)
        total = np.maximum(self.count + count, 1.0)
        apart = mean - self.mean
        self.squares = self.squares + squares + apart**2 * self.count * count / total
        self.mean = self.mean + apart * count / total
        self.count = self.count + count

    def index(self) -> dict[str, Any]:
        assert self.first is not None
        std = np.sqrt(self.squares / np.maximum(self.count, 1.0))
        for name, value, mean in zip(
            (*self.first.input_names, *self.first.output_names), std, self.mean, strict=True
        ):
            if not value > ROUNDING * abs(mean):
                raise DataError(f"column {name!r} is constant or missing in all data; leave it out")
            if value < _LEAST_SPREAD * abs(mean):
                raise DataError(
                    f"column {name!r}: a mean of {mean:.6g} hides a deviation of {value:.3g} in "
                    "single "
                    f"precision; subtract an offset from it first"
                )
        return {
            "inputs": list(self.first.input_names),
            "outputs": list(self.first.output_names),
            "dt": self.first.dt,
            "names": self.names,
            "lengths": self.lengths,
            "digest": self.digest.hexdigest(),
            "statistics": {
                "mean": self.mean.tolist(),
                "std": std.tolist(),
                "low": self.low.tolist(),
                "high": self.high.tolist(),
            },
        }
