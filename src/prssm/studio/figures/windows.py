"""What of a long series is drawn: the visible rows, thinned so that no peak is lost."""

from collections.abc import Mapping

import numpy as np

from prssm.report.interactive.thinning import kept_rows
from prssm.studio.answers import packed

MOST = 3000  # points of a window, more than a screen has pixels


def window(series: Mapping[str, np.ndarray], begin: int, end: int) -> dict[str, np.ndarray]:
    """The rows `begin` to `end` (not included) of some series, with their row numbers as `row`.

    One row more on either side, so that lines go on to the edge of the picture.
    """
    rows = max((len(values) for values in series.values()), default=0)
    low = min(max(begin - 1, 0), rows)
    high = min(max(end + 1, low), rows)
    parts = {name: values[low:high] for name, values in series.items()}
    if low == high:
        return {"row": np.zeros(0), **parts}
    kept = kept_rows(list(parts.values()), MOST)
    row = np.arange(low, high, dtype=np.float64)[kept]
    return {"row": row, **{name: values[kept] for name, values in parts.items()}}


def packed_window(series: Mapping[str, np.ndarray], begin: int, end: int) -> dict[str, str]:
    """The same as the page takes it."""
    found = window(series, begin, end)
    return {name: packed(values) for name, values in found.items()}
