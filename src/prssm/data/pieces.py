"""Pieces of long records: what models are made from where all rows would take too long."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record

# of long data, what a linear model is made from
_MOST_ROWS = 6000
_PIECE = 2000
# what it is improved on at last
_LAST_ROWS = 40_000
_LAST_PIECE = 10_000


class Piece(NamedTuple):
    """Rows `begin` to `end` (not included) of the record with the number `record`."""

    record: int
    begin: int
    end: int


def spread_pieces(lengths: Sequence[int], most: int, piece: int) -> list[Piece]:
    """About `most` rows of records of these lengths, in pieces of at most `piece` rows.

    The pieces are evenly spread over the data. Whole records where they have no more rows in all.
    """
    total = sum(lengths)
    if total <= most:
        return [Piece(number, 0, length) for number, length in enumerate(lengths)]
    pieces: list[Piece] = []
    for number, length in enumerate(lengths):
        edges = np.linspace(0, length, -(-length // piece) + 1).astype(int).tolist()
        pieces += [Piece(number, begin, end) for begin, end in pairwise(edges)]
    chosen = np.linspace(0, len(pieces) - 1, max(1, len(pieces) * most // total)).astype(int)
    return [pieces[index] for index in chosen]


def spread_out(
    records: Sequence[Record], most: int = _MOST_ROWS, piece: int = _PIECE
) -> list[Record]:
    """The same records where they have at most so many rows in all, else pieces of them.

    The pieces are evenly spread over the data.

    A few thousand rows tell the few parameters of a linear model; more would take longer than all
    of the training.
    """
    lengths = [len(record) for record in records]
    if sum(lengths) <= most:
        return list(records)
    pieces = spread_pieces(lengths, most, piece)
    return [records[one.record][one.begin : one.end] for one in pieces]


def long_pieces(records: Sequence[Record]) -> list[Record]:
    """As many rows as a linear model is improved on at last, in long pieces."""
    return spread_out(records, _LAST_ROWS, _LAST_PIECE)


def longer_pieces(records: Sequence[Record], pieces: Sequence[Record]) -> list[Record]:
    """More of the records than the pieces are; none where these are all."""
    more = long_pieces(records)
    return more if sum(map(len, more)) > sum(map(len, pieces)) else []
