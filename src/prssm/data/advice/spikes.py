"""Spikes: a few values far from their neighbours, found as `outliers` would find them."""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked, runs_of
from prssm.data.advice.note import Note
from prssm.data.preprocessing.outliers import THRESHOLD, spikes

_MOST = 0.02  # a larger share is no mistake but the way the column is
_LEVELS = 30  # a column with fewer is a switch or a coarse scale


def outliers(looked: Looked) -> Iterator[Note]:
    """Columns with spikes."""
    for column in looked.columns():
        known = column.known
        if len(np.unique(known)) < _LEVELS:
            continue
        found = [spikes(values)[0] for values in column.parts]
        count = sum(int(marks.sum()) for marks in found)
        if not 0 < count <= _MOST * len(known):
            continue
        number = int(np.argmax([marks.sum() for marks in found]))
        rows = runs_of(found[number])
        output = column.word == "output"
        yield Note(
            "outliers",
            column.name,
            f"{column.label} has {count} value{'s' * (count > 1)} more than {THRESHOLD:g} "
            f"deviations from {'their' if count > 1 else 'its'} neighbours, the first at row "
            f"{rows[0][0]}",
            "empty them if they are mistakes (outliers)"
            if output
            else "put the neighbours' median there if they are mistakes (outliers=fill)",
            step="outliers" if output else "outliers=fill",
            record=number,
            rows=rows,
        )
