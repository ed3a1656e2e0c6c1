"""Products of small matrices that stay on one core.

A linear algebra library wakes the other cores as soon as a product is worth some microseconds.
Where these are busy with other work, each such product waits for them longer than it takes, and an
identification makes thousands.
"""

import numpy as np

# multiplications up to which OpenBLAS, which NumPy brings along, asks no other core
_ALONE = 4 * 65536
_LEAST_COLUMNS = 16  # of a piece: below, all cores are worth waiting for


def small_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right.T for matrices (K, T) and (L, T) with a long second axis."""
    rows, length = left.shape
    columns = len(right)
    if columns <= 2:
        return np.einsum("kt,lt->kl", left, right)
    piece = _ALONE // (rows * columns)
    if piece < _LEAST_COLUMNS or length <= piece:
        return np.dot(left, right.T)
    total = np.dot(left[:, :piece], right[:, :piece].T)
    for begin in range(piece, length, piece):
        total += np.dot(left[:, begin : begin + piece], right[:, begin : begin + piece].T)
    return total
