"""Fewer rows for a long recording: those at which some line is highest or lowest.

`kept_rows(columns, most)` says which rows to draw. They are true rows, so every peak stays and
a reader who points at one reads what was recorded.
"""

from collections.abc import Sequence

import numpy as np

ROWS = 4000  # of a figure, at most
SPANS = 400  # marked stretches of a figure, at most


def kept_rows(columns: Sequence[np.ndarray], most: int = ROWS) -> np.ndarray:
    """Indices of at most `most` rows (and those of the two ends) that keep all extremes.

    The rows are cut into stretches of equal length; of each the lowest and the highest row of every
    column stay. A stretch in which a column has no value keeps its first row: the line breaks
    there.
    """
    rows = len(columns[0])
    if rows <= most:
        return np.arange(rows)
    stretches = max(most // (2 * len(columns)), 1)
    edges = np.linspace(0, rows, stretches + 1).astype(int)
    width = int(np.diff(edges).max())
    # the last rows of a shorter stretch are repeated: all stretches are searched at once
    index = np.minimum(edges[:-1, None] + np.arange(width), edges[1:, None] - 1)
    kept = [np.array([0, rows - 1])]
    for column in columns:
        values = np.asarray(column, np.float64)[index]
        for missing, search in ((np.inf, np.argmin), (-np.inf, np.argmax)):
            at = search(np.where(np.isnan(values), missing, values), axis=1)
            kept.append(index[np.arange(stretches), at])
    return np.unique(np.concatenate(kept))


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
