"""The triangle R of a QR factorisation, where Q is not needed."""

import numpy as np


def triangle(matrix: np.ndarray) -> np.ndarray:
    """R of matrix = Q R: the same least-squares equations in as few rows as can be."""
    # NumPy's declaration knows only the pair (Q, R), whatever the mode.
    return np.linalg.qr(matrix, mode="r")  # type: ignore[return-value]
