"""A data set on disk that need not fit in memory.

It is one file of rows, of which only the windows in use are read.

`convert` makes the folder: `rows.f32`, inputs and outputs of all experiments end to end in single
precision, and `index.json`, which says what they are, how long the experiments are and what their
statistics are.
"""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from prssm.data.domain import Domain
from prssm.data.pieces import spread_pieces
from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.stream.index import check_index
from prssm.data.windows import usual
from prssm.foundation.errors import DataError

ROWS = "rows.f32"
INDEX = "index.json"
KIND = np.dtype("<f4")

# of a stream, that are read where all training is to be in memory: long enough to show slow motion
_MOST_ROWS = 100_000
_PIECE = 10_000


@dataclass(frozen=True, eq=False)
class Stream:
    """Experiments in a folder; nothing is read before it is asked for."""

    folder: Path
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    dt: float | None
    names: tuple[str, ...]
    lengths: np.ndarray
    digest: str  # of all rows
    statistics: dict[str, list[float]]  # mean, std, low and high of each column

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "Stream":
        """The stream in a folder; a folder that is not whole is refused."""
        folder = Path(folder)
        try:
            index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
            check_index(index)
            stream = cls(
                folder,
                tuple(index["inputs"]),
                tuple(index["outputs"]),
                dt=index["dt"],
                names=tuple(index["names"]),
                lengths=np.asarray(index["lengths"], dtype=np.int64),
                digest=index["digest"],
                statistics=index["statistics"],
            )
        except FileNotFoundError:
            raise DataError(
                f"{folder}: expected a folder made by `prssm convert`, but it has no {INDEX}"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{folder / INDEX}: not a whole index of a stream: {error}") from None
        stream._check_size()
        return stream

    def _check_size(self) -> None:
        path = self.folder / ROWS
        expected = int(self.lengths.sum()) * self.width * KIND.itemsize
        found = path.stat().st_size if path.is_file() else 0
        if found != expected:
            raise DataError(
                f"{path}: expected {expected} bytes, got {found}: the file is not whole; convert "
                "the data again"
            )

    @property
    def width(self) -> int:
        return len(self.input_names) + len(self.output_names)

    @property
    def steps(self) -> int:
        return int(self.lengths.sum())

    @cached_property
    def _rows(self) -> np.ndarray:
        return np.memmap(self.folder / ROWS, dtype=KIND, mode="r", shape=(self.steps, self.width))

    @cached_property
    def _offsets(self) -> np.ndarray:
        return np.append(0, np.cumsum(self.lengths))

    def read(self, begin: int, end: int, name: str = "stream") -> Record:
        """Rows begin..end of all experiments laid end to end, as a Record."""
        block = np.array(self._rows[begin:end], dtype=np.float64)
        inputs = len(self.input_names)
        return Record(
            block[:, :inputs],
            block[:, inputs:],
            self.dt,
            input_names=self.input_names,
            output_names=self.output_names,
            name=name,
        )

    def scaler(self, normalise: bool = True) -> Scaler:
        """As fitted on all rows."""
        mean, std = (
            np.asarray(self.statistics[name], dtype=np.float64) for name in ("mean", "std")
        )
        if not normalise:
            mean = np.zeros_like(mean)
            std = np.ones_like(std)
        inputs = len(self.input_names)
        return Scaler(mean[:inputs], std[:inputs], mean[inputs:], y_std=std[inputs:])

    def domain(self) -> Domain:
        """What all rows cover; a stream of an earlier version does not say."""
        if "low" not in self.statistics:
            return Domain()
        limits = np.array([self.statistics["low"], self.statistics["high"]])
        inputs = len(self.input_names)
        return Domain(limits[:, :inputs], limits[:, inputs:])

    def pieces(self, rows: int = _MOST_ROWS, piece: int = _PIECE) -> list[Record]:
        """Records in memory that stand for the stream, at most `rows` rows in all.

        Whole experiments or pieces of at most `piece` rows, evenly spread over all there are. A
        stream of no more rows is read whole. Any method can be fitted to them.
        """
        lengths = self.lengths.tolist()
        wanted = rows
        found = spread_pieces(lengths, wanted, piece)
        while (taken := sum(one.end - one.begin for one in found)) > rows and len(found) > 1:
            wanted = wanted * rows // taken  # pieces differ in length
            found = spread_pieces(lengths, wanted, piece)
        begins = self._offsets[[one.record for one in found]].tolist()
        return [
            self.read(begin + one.begin, begin + one.end, self.names[one.record])
            for begin, one in zip(begins, found, strict=True)
        ]

    def sample(self, rows: int, seed: int, shortest: int = 2) -> list[Record]:
        """Some experiments, at most `rows` rows in all.

        Whole ones in random order, the last one cut.
        """
        chosen: list[Record] = []
        for experiment in np.random.default_rng(seed).permutation(len(self.lengths)):
            take = min(int(self.lengths[experiment]), rows)
            if take < shortest:
                continue
            begin = int(self._offsets[experiment])
            chosen.append(self.read(begin, begin + take, self.names[experiment]))
            rows -= take
        return chosen

    def usual(self, at_most: int = 200) -> Record:
        """The shortest experiment that is no stub, or its first rows."""
        experiment = int(np.flatnonzero(self.lengths == usual(self.lengths))[0])
        begin = int(self._offsets[experiment])
        return self.read(
            begin, begin + min(int(self.lengths[experiment]), at_most), self.names[experiment]
        )

    def window_count(self, horizon: int) -> int:
        """How many windows of that length there are; shorter experiments have none."""
        count = int(self._windows(horizon).sum())
        if not count:
            raise DataError(
                f"{self.names[0]}: {self.lengths[0]} rows are too short for sub-trajectories of "
                f"horizon={horizon}; choose horizon at most {self.lengths.max()}"
            )
        return count

    def _windows(self, horizon: int) -> np.ndarray:
        """How many of them each experiment has."""
        return np.maximum(self.lengths - horizon + 1, 0)

    def window_rows(self, windows: np.ndarray, horizon: int) -> np.ndarray:
        """First rows of windows, given by their numbers.

        They are counted through all experiments as `windows.sliding` counts those of long ones.
        """
        ends = np.cumsum(self._windows(horizon))
        experiment = np.searchsorted(ends, windows, side="right")
        before = ends[experiment] - self._windows(horizon)[experiment]
        return self._offsets[experiment] + windows - before
