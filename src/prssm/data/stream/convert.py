"""Files to a stream: read once, piece by piece.

So neither one long file nor many need fit in memory.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from prssm.data.coerce import check_alike
from prssm.data.io.binary_files import parquet_rows, read_parquet
from prssm.data.io.files import READERS, AnyPath, read_records
from prssm.data.io.records import Choice, Names, record_of
from prssm.data.record import Record
from prssm.data.stream.stream import INDEX, KIND, ROWS, Stream
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError

BLOCK = 100_000  # rows of a Parquet file that are in memory at once
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
) -> Stream:
    """Write the experiments of a file, of files, or of all files of folders, to a stream.

    The sources stay as they are; the columns are named as in `read`.

    The folder has an index only when everything is there; a conversion that fails leaves none.
    """
    folder = Path(folder)
    files = _files([sources] if isinstance(sources, str | os.PathLike) else sources)
    if (folder / INDEX).exists():
        raise DataError(
            f"{folder}: there is a stream already; name another folder, or remove it first"
        )
    writer = _Writer()
    with replacing(folder / ROWS) as stream:
        for file in files:
            choice = Choice(inputs, outputs, time, dt=dt)
            for piece, repeated in _pieces(file, choice):
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


def _pieces(path: Path, choice: Choice) -> Iterator[tuple[Record, int]]:
    """Experiments in pieces, each with the number of its first rows that were in the piece before.

    Pieces of a Parquet file overlap by a row, so that a gap in time between them is seen too.
    """
    if path.suffix.lower() != ".parquet" or not path.is_file():
        for record in read_records(path, choice):
            yield record, 0
        return
    for begin in range(0, max(parquet_rows(path), 1), BLOCK):
        repeated = min(begin, 1)
        rows = slice(begin - repeated, begin + BLOCK)
        yield record_of(read_parquet(path, rows=rows), choice), repeated


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
        if np.nanmax(np.abs(exact), initial=0.0) > np.finfo(KIND).max:
            raise DataError(
                f"{piece.name}: a value is too large for single precision; use other units"
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
            if not value > 1e-12 * max(1.0, abs(mean)):
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
