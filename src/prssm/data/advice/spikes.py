"""Spikes: a few values far from their neighbours, found as `outliers` would find them."""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked, runs_of
from prssm.data.advice.note import Note
from prssm.data.preprocessing.outliers import THRESHOLD, spikes

_MOST = 0.02  # a larger share is no mistake but the way the column is
_LEVELS = 30  # a column with fewer is a switch or a coarse scale
# By the kind of column: the step of preprocessing, and what it does.
_MENDING = {
    "output": ("outliers", "empties them"),
    "input": ("outliers=fill", "puts the neighbours' median there"),
}


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
        step, helps = _MENDING[column.word]
        yield Note(
            "outliers",
            column.name,
            f"{column.label} has {count} value{'s' * (count > 1)} more than {THRESHOLD:g} "
            f"deviations from {'their' if count > 1 else 'its'} neighbours, the first at row "
            f"{rows[0][0]}",
            f"if they are mistakes, preprocess {step!r} {helps}",
            step=step,
            record=number,
            rows=rows,
        )
