"""What to tell a user about runs that should not be taken at their word, in one line."""

from collections.abc import Sequence

import numpy as np

from prssm.prediction.prediction import Prediction

# A run is worth a word where this share of its rows is outside by more than a little, or one of
# them far, in deviations of the training data (studies/extrapolation.py).
_MANY = 0.1
_LITTLE = 0.1
_FAR = 2.0


def leaves(run: Prediction) -> bool:
    """Whether a run goes outside of what the model has seen by more than a little.

    The first state is found from few samples and may be off: rows of the warm-up do not count.
    """
    if run.distance is None:
        return False
    later = run.distance[run.warmup :]
    return bool(len(later)) and bool(np.mean(later > _LITTLE) > _MANY or later.max() > _FAR)


def about_seen(runs: Sequence[Prediction]) -> str:
    """One line about all runs that leave what the model has seen; empty where none does."""
    found = [(run, run.distance) for run in runs if run.distance is not None and leaves(run)]
    if not found:
        return ""
    worst, distance = max(found, key=lambda one: one[1].max())
    outside = sum(int(np.sum(distance > 0.0)) for _, distance in found)
    rows = sum(len(run) for run, _ in found)
    where = worst.name if len(runs) == 1 else f"{len(found)} of {len(runs)} runs"
    return (
        f"{where}: {outside} of {rows} rows are outside of what the model has seen in training "
        f"(farthest: row {int(np.argmax(distance))}"
        f"{'' if len(runs) == 1 else f' of {worst.name}'}, by {distance.max():.2g} deviations of "
        "the training data); errors there may be larger than the band says"
    )
