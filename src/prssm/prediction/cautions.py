"""What to tell a user about runs that should not be taken at their word, in one line."""

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


def about_seen(run: Prediction) -> str:
    """One line about a run that leaves what the model has seen; empty where it does not."""
    if run.distance is None or not leaves(run):
        return ""
    outside = int(np.sum(run.distance > 0.0))
    return (
        f"{run.name}: {outside} of {len(run)} rows are outside of what the model has seen in "
        f"training (farthest: row {int(np.argmax(run.distance))}, by {run.distance.max():.2g} "
        "deviations of the training data); errors there may be larger than the band says"
    )


def about_lost(run: Prediction) -> str:
    """One line about a run whose values are no numbers from some row on; empty for any other."""
    lost = ~np.isfinite(run.mean).all(axis=1)
    if not lost.any():
        return ""
    return f"{run.name}: the run is lost from row {int(np.argmax(lost))} on: no finite values"
