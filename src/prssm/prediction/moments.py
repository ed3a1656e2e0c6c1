"""Mean and variance of trajectories that come in parts, in one pass and without keeping them."""

import numpy as np


class Moments:
    """Moments over trajectories at each of `rows` rows and `columns` columns.

    `add` the trajectories of some rows, in any order and number; then `mean` and `var` are those of
    all that were added.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.mean = np.zeros((rows, columns))
        self._squares = np.zeros((rows, columns))
        self._count = np.zeros((rows, 1))

    def add(self, begin: int, values: np.ndarray) -> None:
        """Trajectories (T, columns, B) at the rows from `begin` on."""
        rows = slice(begin, begin + len(values))
        number = values.shape[2]
        before = self._count[rows]
        total = before + number
        # a run that has left all bounds stays what it is: the caller judges it by its mean
        with np.errstate(invalid="ignore", over="ignore"):
            mean = values.mean(axis=2, dtype=np.float64)
            squares = values.var(axis=2, dtype=np.float64) * number
            apart = mean - self.mean[rows]
            self.mean[rows] += apart * (number / total)
            self._squares[rows] += squares + apart**2 * (before * number / total)
        self._count[rows] = total

    def var(self) -> np.ndarray:
        """The unbiased variance over trajectories."""
        return self._squares / (self._count - 1.0)
