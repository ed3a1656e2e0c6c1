"""How far an axis reaches: all of the lines, and as much of a band as leaves them readable."""

import numpy as np

_MARGIN = 0.04  # of what is shown, on either side


def limits(
    lines: np.ndarray, low: np.ndarray, high: np.ndarray, *, most: float
) -> tuple[float, float] | None:
    """Bottom and top of an axis for lines and the band from `low` to `high`; None without any.

    The band may take at most `most` times the lines' range on either side: one that explodes must
    not flatten everything else. Rows that are not finite do not count.
    """
    lines, low, high = (values[np.isfinite(values)] for values in (lines, low, high))
    if not len(lines):
        return None
    least = float(lines.min())
    largest = float(lines.max())
    room = most * (largest - least)
    bottom = min(least, max(float(low.min(initial=least)), least - room))
    top = max(largest, min(float(high.max(initial=largest)), largest + room))
    # a line that never moves has room as well, whatever its unit
    margin = _MARGIN * ((top - bottom) or abs(top) or 1.0)
    return bottom - margin, top + margin
