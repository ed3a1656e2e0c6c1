"""Fewer rows for a long recording: those at which some line is highest or lowest."""

from collections.abc import Sequence

import numpy as np


def extreme_rows(columns: Sequence[np.ndarray], most: int) -> np.ndarray:
    """Indices of at most `most` rows (and those of the two ends) that keep all extremes.

    They are true rows, so every peak stays. The rows are cut into stretches of equal length; of
    each the lowest and the highest row of every column stay. A stretch in which a column has no
    value keeps its first row: the line breaks there.
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
