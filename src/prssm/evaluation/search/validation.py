"""Which stretches of the training data a trial is not shown, to be judged by its error there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.data.splits import LEAST_ROWS, Split, folds, split, tail
from prssm.foundation.errors import DataError, OptionError


@dataclass(frozen=True)
class Validation:
    """How trials are judged: on the last `fraction` of every record, or on `folds` folds."""

    fraction: float = 0.3
    folds: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.fraction < 1.0:
            raise OptionError(
                f"--hold-out: expected a fraction between 0 and 1, got {self.fraction}"
            )
        if self.folds is not None and self.folds < 2:
            raise OptionError(f"--folds: expected at least 2, got {self.folds}")

    def splits(self, records: Sequence[Record]) -> list[Split]:
        """What to fit and what to predict, once or fold by fold.

        An error where the data are too short to hold anything out.
        """
        plans = folds(records, self.folds) if self.folds else [tail(records, self.fraction)]
        found = [split(records, stretches) for stretches in plans if stretches]
        if (
            not found
            or any(not fit for fit, _ in found)
            or any(not _worth(part) for _, held in found for part in held)
        ):
            rows = min(len(record) for record in records)
            raise DataError(
                f"{records[0].name}: too short to hold a stretch out: {self} leaves one with fewer "
                "than "
                f"{LEAST_ROWS} measured rows (the shortest record has {rows})"
            )
        return found

    def __str__(self) -> str:
        return f"{self.folds} folds" if self.folds else f"the last {self.fraction:.0%}"


def _worth(record: Record) -> bool:
    return int((~np.isnan(record.y)).any(axis=1).sum()) >= LEAST_ROWS
