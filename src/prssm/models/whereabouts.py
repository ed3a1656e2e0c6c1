"""How far a run is from what a model has seen: the part of the contract that measures it.

A method with states overrides `_path` and `_visited`; one whose band should be wider outside of its
data overrides `_widened`.
"""

from typing import TYPE_CHECKING

import numpy as np

from prssm.data.record import Record
from prssm.data.resample import at_all_rows, thinned
from prssm.prediction.seen import Seen, range_of

if TYPE_CHECKING:
    from prssm.models.simulated import Simulated

_PATH_ROWS = 10_000  # of a training record over which states are asked for
_PATH_RECORDS = 1000
_PAST = 3  # rows of outputs that stand for the state of a method that shows none


class Whereabouts:
    """What every Estimator knows of where its runs are, beside its training data."""

    stride_: int
    # what it has seen; None for data on disk, and of older model files
    seen_: Seen | None = None

    def _path(self, run: "Simulated") -> np.ndarray:
        """What the model remembers along a run, (T, ..).

        How far a run is from what was seen is measured there. Override both this and `_visited`
        where there are states.
        """
        return _past(run.mean)

    def _visited(self, records: list[Record]) -> list[np.ndarray]:
        """The same along scaled training records: what `_path` gives for the model's own runs."""
        return [_past(record.outputs_filled()) for record in records]

    def _widened(self, run: "Simulated", distance: np.ndarray) -> "Simulated":
        """The run with a band that knows how far each step is from what was seen.

        Override where a method's band should.
        """
        return run

    def _seen(self, records: list[Record]) -> Seen:
        """The states and inputs that training has shown; ranges are those of all rows."""
        steps = [thinned(record, self.stride_) for record in records[:_PATH_RECORDS]]
        some = [record[:_PATH_ROWS] for record in steps]
        return Seen.fit(
            self._visited(some),
            [record.u for record in some],
            input_range=range_of([record.u for record in records]),
            output_range=range_of([record.y for record in records]),
        )

    def _distance(self, run: "Simulated", u: np.ndarray) -> np.ndarray | None:
        """How far each step of a run over inputs `u` is from what was seen; None if unknown."""
        if self.seen_ is None:
            return None
        away = self.seen_.distance(self._path(run), u, run.mean)
        return np.maximum(away, self.seen_.beyond_inputs(u))

    def _distance_at_all_rows(
        self, distance: np.ndarray | None, u: np.ndarray
    ) -> np.ndarray | None:
        """Distances of steps at all rows, each with its own input."""
        if distance is None or self.seen_ is None or self.stride_ == 1:
            return distance
        rows = at_all_rows(distance[:, None], self.stride_, len(u))[:, 0]
        return np.maximum(rows, self.seen_.beyond_inputs(u))


def _past(y: np.ndarray) -> np.ndarray:
    """Outputs (T, Dy) beside those of the rows before; the first row repeats itself."""
    rows = np.arange(len(y))
    return np.concatenate([y[np.maximum(rows - lag, 0)] for lag in range(_PAST)], axis=1)
