"""Sensor noise with a memory, as states that a filter estimates along.

Of each output, d_t = (p + q) d_{t-1} - p q d_{t-2} + w_t: the poles p and q are its `memory`. With
q = 0 it forgets as an exponential; with both it goes on in the direction in which it went, as what
a free run misses of a slow system does. The states of all outputs are d_t, then d_{t-1}.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array


class Coloured:
    """Noise of deviation `std` (M, Dy) with two poles (M, Dy) each; no states where it is silent.

    `A`, `Q` and `first` are matrices (M, size, size); `C` (Dy, size) is what the outputs see.
    """

    def __init__(
        self,
        std: Float[Array, "M Dy"],
        memory: Float[Array, "M Dy"],
        second: Float[Array, "M Dy"],
    ) -> None:
        members, outputs = std.shape
        order = 0 if not std.any() else 2 if second.any() else 1
        self.size = order * outputs
        self.C = np.eye(outputs, self.size)
        self.A = np.zeros((members, self.size, self.size))
        self.Q = np.zeros_like(self.A)
        self.first = np.zeros_like(self.A)
        if order == 0:
            return
        a = memory + second
        b = -memory * second
        variance = std**2
        # Of neighbours a / (1 - b) is the correlation, which is the memory where q = 0.
        correlation = a / (1.0 - b)
        fresh = variance * (1.0 - a * correlation - b * (a * correlation + b))
        now = slice(None, outputs)
        _set(self.A, now, now, a)
        _set(self.Q, now, now, fresh)
        _set(self.first, now, now, variance)
        if order == 2:
            then = slice(outputs, None)
            _set(self.A, now, then, b)
            _set(self.A, then, now, np.ones_like(a))
            _set(self.first, now, then, variance * correlation)
            _set(self.first, then, now, variance * correlation)
            _set(self.first, then, then, variance)


def _set(matrix: Array, rows: slice, columns: slice, diagonal: Float[Array, "M Dy"]) -> None:
    """A diagonal block of each member's matrix."""
    matrix[:, rows, columns] = diagonal[:, :, None] * np.eye(diagonal.shape[1])


def block_diagonal(*parts: Any) -> Array:
    """Matrices (M, n, n) of several sizes as one block-diagonal matrix for each member."""
    sizes = [part.shape[-1] for part in parts]
    whole = np.zeros((len(parts[0]), sum(sizes), sum(sizes)))
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        whole[:, begin : begin + size, begin : begin + size] = part
        begin += size
    return whole
