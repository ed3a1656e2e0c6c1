"""Outside of what was seen, and for a while after, a band is wider: `widening` says by how much."""

import numpy as np

WIDER = 0.5  # of a band, for each deviation of the training data that a row is outside
MOST = 5.0  # deviations that count
FADES = 0.95  # what is left after each step, since a state that is wrong stays so for a while


def widening(distance: np.ndarray) -> np.ndarray:
    """By how much the band is wider at each step of a run, (T,): 1 inside of what was seen.

    From the distances of the steps to it.
    """
    far = np.minimum(distance, MOST)
    for t in range(1, len(far)):
        far[t] = max(far[t], FADES * far[t - 1])
    return 1.0 + WIDER * far
