"""What the checks look at: recordings, their columns, and words for places in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record


@dataclass(frozen=True, eq=False)
class Looked:
    """Training records, and those of the test where there are any."""

    records: Sequence[Record]
    test: Sequence[Record] = ()

    @property
    def dt(self) -> float | None:
        return self.records[0].dt

    @property
    def rows(self) -> int:
        return sum(map(len, self.records))

    @property
    def longest(self) -> tuple[int, Record]:
        """The record with the most rows, and its number."""
        number = max(range(len(self.records)), key=lambda i: len(self.records[i]))
        return number, self.records[number]

    def columns(self) -> Iterator["Whole"]:
        """Every input and output, with its values in each record."""
        first = self.records[0]
        for i, name in enumerate(first.input_names):
            yield Whole("input", name, [record.u[:, i] for record in self.records])
        for i, name in enumerate(first.output_names):
            yield Whole("output", name, [record.y[:, i] for record in self.records])

    def spell(self, rows: float) -> str:
        """A number of rows, with seconds where the sampling time is known."""
        if self.dt is None:
            return f"{rows:.4g} rows"
        return f"{rows:.4g} rows ({rows * self.dt:.4g} s)"


class Whole(NamedTuple):
    """One column of all records."""

    word: str
    name: str
    parts: list[np.ndarray]

    @property
    def label(self) -> str:
        return f"{self.word} {self.name!r}"

    @property
    def known(self) -> np.ndarray:
        """All values that are there."""
        values = np.concatenate(self.parts)
        return values[np.isfinite(values)]


def runs_of(marked: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Runs of marked rows: the first row of each and the row after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(np.int8), [0]])))
    pairs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return tuple(pairs)
