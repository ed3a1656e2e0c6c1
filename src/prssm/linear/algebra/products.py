"""Products and factors of small matrices that stay on one core.

A linear algebra library wakes the other cores as soon as a product is worth some microseconds.
Where these are busy with other work, each such product waits for them longer than it takes, and an
identification makes thousands.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

# multiplications up to which OpenBLAS, which NumPy brings along, asks no other core
ALONE = 4 * 65536
_ALONE_VECTOR = 4 * 2304  # the same for a matrix and a vector
_ALONE_BLOCK = 4096  # entries of a matrix that it triangularises without them
_ALONE_ROWS = 112  # of a matrix that it factorises without them; one of 128 rows asks for them
_BLOCK = 96  # rows of a larger one that are factorised at once
_LEAST_COLUMNS = 25  # of a piece: below, the product is made tile by tile
_TILE = 64  # rows and columns of a tile, and the length of its pieces


def small_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right.T for matrices (K, T) and (L, T) with a long second axis."""
    rows, length = left.shape
    columns = len(right)
    if columns <= 2:
        return np.einsum("kt,lt->kl", left, right)
    piece = ALONE // max(rows * columns, 1)
    if length <= piece:
        return np.dot(left, right.T)
    if piece < _LEAST_COLUMNS:
        return _tiled(left, right)
    total = np.dot(left[:, :piece], right[:, :piece].T)
    for begin in range(piece, length, piece):
        total += np.dot(left[:, begin : begin + piece], right[:, begin : begin + piece].T)
    return total


def _tiled(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The same product tile by tile; half of the tiles where a matrix meets itself."""
    found = np.empty((len(left), len(right)))
    for row in range(0, len(left), _TILE):
        rows = slice(row, row + _TILE)
        last = row + 1 if left is right else len(right)
        for column in range(0, last, _TILE):
            columns = slice(column, column + _TILE)
            found[rows, columns] = small_product(left[rows], right[columns])
            if left is right and column < row:
                found[columns, rows] = found[rows, columns].T
    return found


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right, where the right one is a matrix or a vector."""
    if right.ndim == 1:
        return left @ right if left.size <= _ALONE_VECTOR else np.einsum("kl,l->k", left, right)
    if left.size * right.shape[1] <= ALONE:
        return left @ right
    return small_product(left, right.T)


def wide_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right for a small matrix (K, L) and a wide one (L, T)."""
    piece = max(ALONE // max(left.size, 1), 1)
    if right.shape[1] <= piece:
        return left @ right
    found = np.empty((len(left), right.shape[1]))
    for begin in range(0, right.shape[1], piece):
        part = slice(begin, begin + piece)
        np.matmul(left, right[:, part], out=found[:, part])
    return found


def squared(half: np.ndarray) -> np.ndarray:
    """half.T @ half."""
    if half.size * half.shape[1] <= ALONE:
        return half.T @ half
    turned = half.T
    return small_product(turned, turned)


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


def tall_lstsq(matrix: np.ndarray, target: np.ndarray, rcond: float) -> np.ndarray:
    """The least-squares solution of many equations, which are reduced block by block."""
    columns = matrix.shape[1]
    rows = max(_ALONE_BLOCK // (columns + 1), columns + 1)
    both = np.concatenate([matrix, target[:, None]], axis=1)
    while len(both) > rows and rows > columns + 1:
        parts = [both[at : at + rows] for at in range(0, len(both), rows)]
        both = np.concatenate([np.linalg.qr(part, mode="r") for part in parts])
    return np.linalg.lstsq(both[:, :-1], both[:, -1], rcond=rcond)[0]


def inverse_root(matrix: np.ndarray) -> np.ndarray:
    """The inverse of the Cholesky factor, from halves of the matrix where it is not small."""
    size = len(matrix)
    if size <= _ALONE_ROWS:
        root, failed = dpotrf(matrix, lower=1)
        if failed:
            raise np.linalg.LinAlgError("matrix is not positive definite")
        return dtrtri(root, lower=1)[0]
    cut = size // 2
    found = np.zeros((size, size))
    found[:cut, :cut] = inverse_root(matrix[:cut, :cut])
    below = product(matrix[cut:, :cut], found[:cut, :cut].T)
    found[cut:, cut:] = inverse_root(matrix[cut:, cut:] - small_product(below, below))
    found[cut:, :cut] = -product(found[cut:, cut:], product(below, found[:cut, :cut]))
    return found
