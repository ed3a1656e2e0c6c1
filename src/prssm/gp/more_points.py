"""More inducing points for a sparse GP that keeps what it has learnt.

With the points in order, the Cholesky factor of their covariance begins with that of the first
ones. So new points at the end, whose whitened means are zero, leave the mean function as it was.
"""

import numpy as np

_JITTER = 1e-6  # relative to the kernel's variance, for points that lie close together


def least_known(
    visited: np.ndarray, known: np.ndarray, lengthscale: np.ndarray, count: int
) -> np.ndarray:
    """The places that a GP knows least, (count, Din).

    Of the places `visited` (M, Din); its inducing inputs are `known` (P, Din).

    One after the other, each where the variance is largest that all points before it leave (a
    pivoted Cholesky factorisation), for the squared-exponential kernel.
    """
    points = visited / lengthscale
    given = known / lengthscale
    gram = _kernel(given, given) + _JITTER * np.eye(len(given))
    explained = np.linalg.solve(np.linalg.cholesky(gram), _kernel(given, points))
    variance = 1.0 - np.sum(explained**2, axis=0)
    chosen = []
    for _ in range(count):
        best = int(np.argmax(variance))
        chosen.append(best)
        row = _kernel(points[best : best + 1], points)[0] - explained.T @ explained[:, best]
        row = row / np.sqrt(max(variance[best], _JITTER))
        explained = np.concatenate([explained, row[None]])
        variance = variance - row**2
        variance[best] = 0.0
    return visited[chosen]


def longer_factor(factor: np.ndarray, count: int, std: float) -> np.ndarray:
    """The factor (..., P, P) of `gp.sparse.WhitenedInducing` with `count` more points.

    They are independent of the others and have this deviation.
    """
    size = factor.shape[-1]
    grown = np.zeros((*factor.shape[:-2], size + count, size + count))
    grown[..., :size, :size] = factor
    new = np.arange(size, size + count)
    grown[..., new, new] = np.log(std)
    return grown


def _kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared exponential of unit variance and length."""
    squared = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2.0 * a @ b.T
    return np.exp(-0.5 * np.maximum(squared, 0.0))
