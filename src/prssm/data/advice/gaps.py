"""Missing outputs: how many, and the longest gap."""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked, runs_of
from prssm.data.advice.note import Note

_MANY = 0.5  # a share of missing values that leaves little to learn from


def missing(looked: Looked) -> Iterator[Note]:
    """Outputs with empty cells."""
    for column in looked.columns():
        gaps = [
            (end - begin, number, begin, end)
            for number, values in enumerate(column.parts)
            for begin, end in runs_of(np.isnan(values))
        ]
        if not gaps:
            continue
        length, number, begin, end = max(gaps)
        share = sum(gap[0] for gap in gaps) / looked.rows
        do = "nothing, a model learns from the others"
        if share > _MANY:
            do = "check the logging, little is left to learn from"
        yield Note(
            "missing",
            column.name,
            f"{column.label} is missing in {100 * share:.2g} % of the rows, at most {length} "
            f"one after another (from row {begin})",
            do,
            record=number,
            rows=((begin, end),),
        )
