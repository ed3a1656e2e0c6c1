"""The data sets of a benchmark, each read once in a process."""

from functools import lru_cache

from prssm.data.coerce import as_records
from prssm.data.record import Record
from prssm.data.sets import catalogue

_KEPT = 8  # sets in memory: more than the paper's, and far less than a machine has room for


@lru_cache(maxsize=_KEPT)
def load_parts(name: str) -> tuple[list[Record], list[Record]]:
    """The training and the test records of a named set; a second call gives the same objects.

    Records cannot be changed, so all experiments of a process share them.
    """
    train, test = catalogue.load(name)
    return as_records(train), as_records(test)
