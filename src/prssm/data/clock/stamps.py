"""Stamps: the time column of a recording, as it came in and as seconds."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class Stamps:
    """A column of time stamps; predictions give `cells` back as they came.

    `seconds` count from the first row. `start` is the moment of the first row where the stamps
    are dates, so that rows that are added later get a date too. `notes` are one-line remarks about
    how the column was understood.
    """

    name: str
    cells: np.ndarray
    seconds: np.ndarray
    start: np.datetime64 | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, rows: slice | np.ndarray) -> Self:
        """Some of the rows."""
        return replace(self, cells=self.cells[rows], seconds=self.seconds[rows])

    def at(self, seconds: np.ndarray) -> Self:
        """Stamps at other moments, in seconds on the same count: dates where there were dates."""
        if self.start is None:
            return replace(self, cells=seconds, seconds=seconds)
        moments = self.start + np.round(seconds * 1e9).astype("timedelta64[ns]")
        return replace(self, cells=moments, seconds=seconds)
