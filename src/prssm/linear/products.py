"""Products and factors of small matrices that stay on one core.

A linear algebra library wakes the other cores as soon as a product is worth some microseconds.
Where these are busy with other work, each such product waits for them longer than it takes, and an
identification makes thousands.
"""

import numpy as np

# multiplications up to which OpenBLAS, which NumPy brings along, asks no other core
_ALONE = 4 * 65536
_ALONE_ROWS = 128  # of a matrix that it factorises without them
_BLOCK = 96  # rows of a larger one that are factorised at once
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


def small_root(matrix: np.ndarray) -> np.ndarray:
    """Cholesky factor of a matrix with some hundred rows, block by block where it is not small.

    On two cores that had other work, one of 200 rows took 1 ms so and 300 ms in one piece.
    """
    size = len(matrix)
    if size <= _ALONE_ROWS:
        return np.linalg.cholesky(matrix)
    root = np.zeros_like(matrix)
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        rest = matrix[begin:, begin:end]
        if begin:
            rest = rest - small_product(root[begin:, :begin], root[begin:end, :begin])
        top = np.linalg.cholesky(rest[: end - begin])
        root[begin:end, begin:end] = top
        root[end:, begin:end] = np.linalg.solve(top, rest[end - begin :].T).T
    return root
