"""Stretches of the training data that some restarts are not shown.

Their errors there calibrate the band of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record
from prssm.data.splits import Stretch, folds, split
from prssm.data.windows import Windows
from prssm.models.prssm.elbo import Shown

_LEAST_ROWS = 8  # of a stretch that is held out, and twice those its state is recognised from
_LEAST_SHOWN = 0.5  # of a window's rows, for the window to be worth training on


@dataclass(frozen=True, eq=False)
class Fold:
    """One part of the data that is held out, and what is left to see."""

    shown: Shown
    shown_records: list[Record]
    held_out_records: list[Record]
    stretches: Sequence[Stretch] = ()

    @classmethod
    def of(
        cls, cut: Windows, records: Sequence[Record], held_out: Sequence[Stretch], window: int
    ) -> Self | None:
        """None where no window is left to train on."""
        shown = _shown(cut, records, held_out, window=window)
        if shown is None:
            return None
        return cls(shown, *split(records, held_out), stretches=held_out)

    @classmethod
    def nothing_held_out(cls, cut: Windows) -> Self:
        shown = Shown(np.ones(len(cut.y), dtype=bool), cut.starts, np.asarray(float(cut.steps)))
        return cls(shown, [], [])

    def shown_in(self, cut: Windows, records: Sequence[Record], window: int) -> Shown | None:
        """What is left to see of windows of another length; None where that is nothing."""
        return _shown(cut, records, self.stretches, window=window)


def folds_of(cut: Windows, records: Sequence[Record], count: int, window: int) -> list[Fold]:
    """Every part of the data held out once.

    In `count` parts, or in fewer where they would be too short to be worth it. A record that is too
    short to be cut is always shown. No folds where `count` is 0 or all records are too short.
    """
    parts = folds(records, count, least_rows=max(_LEAST_ROWS, 2 * window), fewer=True)
    found = [Fold.of(cut, records, part, window) for part in parts]
    return [fold for fold in found if fold is not None] if all(found) else []


def always_shown(folds: Sequence[Fold], records: Sequence[Record]) -> int:
    """How many of the records no fold holds out, though there are folds."""
    held_out = {stretch.record for fold in folds for stretch in fold.stretches}
    return len(records) - len(held_out) if folds else 0


def _shown(
    cut: Windows, records: Sequence[Record], held_out: Sequence[Stretch], window: int
) -> Shown | None:
    """Rows that are not held out, and as many window starts as there were.

    Some are there twice, so that shapes stay the same.

    A window's first samples must be shown, since the first state is recognised from them.
    """
    offsets = np.cumsum([0, *(len(record) for record in records)])
    recorded = np.ones(offsets[-1], dtype=bool)
    for stretch in held_out:
        begin = offsets[stretch.record]
        recorded[begin + stretch.begin : begin + stretch.end] = False
    rows = cut.rows(recorded)
    seen = np.cumsum(np.append(0, rows))
    in_window = seen[cut.starts + cut.horizon] - seen[cut.starts]
    in_first = seen[cut.starts + window] - seen[cut.starts]
    usable = cut.starts[(in_first == window) & (in_window >= _LEAST_SHOWN * cut.horizon)]
    if not len(usable):
        return None
    starts = usable[np.arange(len(cut.starts)) * len(usable) // len(cut.starts)]
    return Shown(rows, starts, np.asarray(float(recorded.sum())))
