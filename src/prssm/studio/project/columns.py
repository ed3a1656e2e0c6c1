"""The columns of a log, read once and kept while they are looked at."""

from pathlib import Path

import numpy as np

from prssm.data.clock.names import time_column
from prssm.data.io.columns import FileColumns
from prssm.data.io.files import open_columns
from prssm.data.overview import ColumnFacts, facts_of
from prssm.studio.kept import Kept

_KEPT = 4  # logs whose columns stay in memory


class Columns:
    """A file's columns; numbers are made when they are first asked for."""

    def __init__(self, path: Path) -> None:
        self.file: FileColumns = open_columns(path)
        self.names = list(dict.fromkeys(self.file.names))
        self.time = time_column(self.names)
        self._facts: dict[str, ColumnFacts] = {}

    def facts(self, name: str) -> ColumnFacts:
        """What a column holds."""
        if name not in self._facts:
            self._facts[name] = facts_of(self.file, name, is_time=name == self.time)
        return self._facts[name]

    @property
    def rows(self) -> int:
        """How many there are."""
        lengths = [
            len(fact.values) for fact in map(self.facts, self.names) if fact.values is not None
        ]
        return max(lengths, default=0)

    def values(self, name: str) -> np.ndarray | None:
        """The numbers of a column; None where it has none."""
        return self.facts(name).values


class ColumnsKept:
    """The columns of the logs that were looked at last."""

    def __init__(self) -> None:
        self._kept: Kept[Columns] = Kept(_KEPT)

    def of(self, path: Path) -> Columns:
        """The columns of a file, read again where it has changed."""
        version = path.stat().st_mtime_ns if path.exists() else 0
        return self._kept.get((path, version), lambda: Columns(path))
