"""The one place where data are held out: which rows a model is not shown, to be judged by them.

Every function is pure. A plan of what to hold out is a list of `Stretch`es; `split` carries it out:

    for stretches in folds(records, 3):
        shown, held_out = split(records, stretches)

A new rule for what to hold out is one more function here that returns stretches.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.data.windows import usual_length
from prssm.foundation.errors import DataError, OptionError

LEAST_ROWS = 16  # of a stretch that is worth predicting
_LEAST_RECORD = 2  # rows of a Record
_LEAST_START = 4  # rows from which a first state is found
_START = 1 / 8  # of a record, at most
_START_OF_SEVERAL = 1 / 4
_SEVERAL = 4  # records of usual length, from which on whole ones are held out


class Stretch(NamedTuple):
    """Rows `begin` to `end` (not included) of the record with the number `record`."""

    record: int
    begin: int
    end: int

    @property
    def rows(self) -> int:
        return self.end - self.begin


class Split(NamedTuple):
    """What a model is fitted to, and what it then predicts."""

    shown: list[Record]
    held_out: list[Record]


def folds(
    records: Sequence[Record], count: int, least_rows: int = LEAST_ROWS, *, fewer: bool = False
) -> list[list[Stretch]]:
    """Cuts the data into `count` folds, so that each can be held out once.

    Of several records (four and more, one for each fold) whole ones go to the folds in turn: one
    experiment may differ from the next in what nobody measures, and a model that was shown the rest
    of it would not notice. Of few, each is cut into `count` equal stretches, one for each fold. A
    record that is too short for stretches of `least_rows` is never held out. With `fewer` there are
    fewer folds instead, so that there is a whole record for each, or that the records that hold
    most of the rows have such stretches. Stubs, which hold few of all rows, decide nothing. Empty
    where nothing can be held out, and for fewer than two folds.
    """
    if count < 2:
        return []
    usual = usual_length(records)
    several = _of_usual_length(records)
    if several >= _SEVERAL and (fewer or several >= count):
        count = min(count, several)
        least = min(usual // 2, least_rows)
        held_out = [i for i, record in enumerate(records) if len(record) >= least]
        return [[_whole(records, i) for i in held_out[f::count]] for f in range(count)]
    if fewer:
        count = min(count, max(2, usual // least_rows))
    edges = {
        i: np.linspace(0, len(record), count + 1).astype(int).tolist()
        for i, record in enumerate(records)
        if len(record) >= count * least_rows
    }
    if not edges:
        return []
    return [[Stretch(i, at[f], at[f + 1]) for i, at in edges.items()] for f in range(count)]


def most_start_rows(records: Sequence[Record]) -> int:
    """Of how many first rows a state should be found at most: an eighth of a record.

    So stretches that are held out, which are longer than that, are several. Where whole records are
    held out, a fourth.
    """
    usual = usual_length(records)
    share = _START if _of_usual_length(records) < _SEVERAL else _START_OF_SEVERAL
    return max(_LEAST_START, int(share * usual))


def _of_usual_length(records: Sequence[Record]) -> int:
    """How many of the records are no stubs."""
    usual = usual_length(records)
    return sum(len(record) >= usual // 2 for record in records)


def tail(records: Sequence[Record], fraction: float) -> list[Stretch]:
    """Holds out the last `fraction` of every record; of many records whole ones, evenly spread.

    With a fraction of 0.25 every fourth of eight or more records is held out. Empty where a record
    is too short to be cut.
    """
    every = max(2, round(1 / fraction))
    if len(records) >= 2 * every:
        return [_whole(records, i) for i in range(every - 1, len(records), every)]
    stretches = ends(records, 1 - fraction)
    return stretches if all(can_be_cut(stretch) for stretch in stretches) else []


def ends(records: Sequence[Record], shown: float) -> list[Stretch]:
    """Holds out the end of every record, after its first share `shown` (between 0 and 1)."""
    return [Stretch(i, round(shown * len(record)), len(record)) for i, record in enumerate(records)]


def can_be_cut(end: Stretch) -> bool:
    """Whether a stretch at the end of a record and what comes before it are records themselves."""
    return min(end.begin, end.rows) >= _LEAST_RECORD


def split(records: Sequence[Record], stretches: Sequence[Stretch]) -> Split:
    """Carries out a plan: all that is left of the records, in their order, and the stretches."""
    left = [
        part
        for i, record in enumerate(records)
        for part in without(record, [stretch for stretch in stretches if stretch.record == i])
    ]
    return Split(left, [records[s.record][s.begin : s.end] for s in stretches])


def without(record: Record, stretches: Sequence[Stretch]) -> list[Record]:
    """What is left of a record when some of its rows are held out: the pieces between them.

    The stretches must not overlap. A single row between two of them is dropped, since a Record has
    at least two.
    """
    cuts = [edge for stretch in sorted(stretches) for edge in (stretch.begin, stretch.end)]
    edges = [0, *cuts, len(record)]
    pieces = zip(edges[::2], edges[1::2], strict=True)
    return [record[begin:end] for begin, end in pieces if end - begin >= _LEAST_RECORD]


def _whole(records: Sequence[Record], index: int) -> Stretch:
    return Stretch(index, 0, len(records[index]))


class TimeSplit:
    """A splitter for scikit-learn's tools: train on what was before, score what comes after.

        cross_val_score(prssm.LinearSSM(), X, y, cv=prssm.TimeSplit(4))

    Rows are cut into `n_splits` + 1 stretches; each but the first is scored once, by a model of all
    rows before it. Rows are never shuffled or glued. Of a list of Records, whole ones are taken.
    """

    def __init__(self, n_splits: int = 4) -> None:
        if not isinstance(n_splits, int) or n_splits < 1:
            raise OptionError(f"n_splits: expected a whole number from 1 on, got {n_splits!r}")
        self.n_splits = n_splits

    def __repr__(self) -> str:
        return f"TimeSplit({self.n_splits})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Row numbers (or numbers of Records) that train and that are scored, for each split."""
        count = len(X)
        several = isinstance(X, list | tuple) and isinstance(X[0], Record)
        least = 1 if several else LEAST_ROWS
        if count < (self.n_splits + 1) * least:
            word = "records" if several else "rows"
            raise DataError(
                f"TimeSplit: {count} {word} are too few for {self.n_splits} splits; expected at "
                f"least {(self.n_splits + 1) * least}"
            )
        edges = np.linspace(0, count, self.n_splits + 2).astype(int)
        for begin, end in pairwise(edges[1:]):
            yield np.arange(begin), np.arange(begin, end)
