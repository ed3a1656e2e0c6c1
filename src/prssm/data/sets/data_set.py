"""What is known about a named data set."""

from dataclasses import dataclass

from prssm.data.record import Record
from prssm.data.sets.download import DataFile

Part = Record | list[Record]


@dataclass(frozen=True)
class DataSet:
    """A named data set under a fixed protocol.

    `unscored` is how many first samples of a test run the set's own benchmark leaves out of its
    metric (0: all count, as in the PR-SSM paper). `lags` is the NARX window of the paper, where it
    used the set. `dt` is in seconds.
    """

    name: str
    title: str
    source: str
    split: str
    dt: float | None = None
    files: tuple[DataFile, ...] = ()
    unscored: int = 0
    lags: int | None = None
    note: str = ""

    @property
    def simulated(self) -> bool:
        return not self.files
