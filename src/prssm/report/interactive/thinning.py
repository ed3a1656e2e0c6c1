"""How much of a long recording a figure draws: some thousand rows, some hundred marks."""

from collections.abc import Sequence

import numpy as np

from prssm.foundation.show.thinning import extreme_rows

ROWS = 4000  # of a figure, at most
SPANS = 400  # marked stretches of a figure, at most


def kept_rows(columns: Sequence[np.ndarray], most: int = ROWS) -> np.ndarray:
    """Indices of the rows that are drawn: true rows, with every peak of every column."""
    return extreme_rows(columns, most)


def marked_spans(
    time: np.ndarray, marked: np.ndarray, most: int = SPANS
) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of each stretch of marked rows; of many, neighbours are joined.

    A stretch reaches half a row beyond its first and its last row, so that one row is seen too.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(np.int8), [0]])))
    begin = edges[::2]
    end = edges[1::2] - 1
    if len(begin) > most:
        gaps = begin[1:] - end[:-1]
        wide = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
        begin = begin[np.concatenate([[0], wide + 1])]
        end = end[np.concatenate([wide, [len(end) - 1]])]
    half = 0.5 * (time[1] - time[0]) if len(time) > 1 else 0.5
    return time[begin] - half, time[end] + half
