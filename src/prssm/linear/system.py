"""A linear state-space system.

Its simulation, its stability, and the recursion that both it and its gradients use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import schur

from prssm.data.record import Record
from prssm.linear.algebra.products import tall_lstsq, wide_product

MAX_RADIUS = 1.0 - 1e-6  # integrators stay possible (a million steps), growth does not
_CHUNK = 1024  # rows of the recursion held at once, which bounds its memory
# directions of the first state weaker than this, relative to the strongest, cannot be told from
# data
_SMALL = 1e-10


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """x[t+1] = A x[t] + B u[t],  y[t] = C x[t] + D u[t] + offset, in scaled units."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    offset: np.ndarray

    @property
    def order(self) -> int:
        return len(self.A)

    def simulate(self, x0: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outputs (T, Dy) and states (T, Dx) of a free run over inputs (T, Du).

        It begins with the first state `x0`.
        """
        x = propagate(self.A, (u @ self.B.T).T[:, :, None], np.asarray(x0)[:, None])[:, :, 0].T
        return x @ self.C.T + u @ self.D.T + self.offset, x

    def free_response(self, length: int) -> np.ndarray:
        """What a first state does to the outputs: the matrices C A^t, as (T, Dy, Dx).

        t runs from 0 to length - 1.
        """
        still = np.broadcast_to(0.0, (self.order, length, len(self.C)))
        return propagate(self.A.T, still, self.C.T).transpose(1, 2, 0)

    def first_state(self, record: Record) -> np.ndarray:
        """The first state whose free run is nearest to the record.

        In least squares, to all that was measured.
        """
        return self.nearest_run(record)[0]

    def nearest_run(self, record: Record) -> tuple[np.ndarray, np.ndarray]:
        """That first state, and the errors (M,) that its run leaves in the M measured values."""
        forced, _ = self.simulate(np.zeros(self.order), record.u)
        known = ~np.isnan(record.y)
        response = self.free_response(len(record))[known]
        target = (record.y - forced)[known]
        if len(self.C) > 1:
            x0 = tall_lstsq(response, target, rcond=_SMALL)
        else:  # few rows for each state: one piece
            x0 = np.linalg.lstsq(response, target, rcond=_SMALL)[0]
        return x0, target - response @ x0

    def states(self, record: Record) -> np.ndarray:
        """State trajectory (T, Dx) of the free run that fits the whole record best."""
        return self.simulate(self.first_state(record), record.u)[1]

    def markov(self, count: int) -> np.ndarray:
        """The impulse response D, CB, CAB, ... as (count, Dy, Du).

        It is the same in all coordinates of the state.
        """
        return np.concatenate([self.D[None], self.free_response(count)[: count - 1] @ self.B])

    def transformed(self, T: np.ndarray, inverse: np.ndarray) -> Self:
        """The same system with the state T x."""
        return type(self)(T @ self.A @ inverse, T @ self.B, self.C @ inverse, self.D, self.offset)

    def normalised(self, records: Sequence[Record]) -> Self:
        """The same system in the coordinates that the records suggest.

        In these, the states of the records are uncorrelated with unit variance.
        """
        x = np.concatenate([self.states(record) for record in records])
        variance, axes = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
        if not variance[-1] > 0.0:
            return self
        # the strongest direction comes first
        spread = np.sqrt(np.maximum(variance, 1e-12 * variance[-1]))[::-1]
        # one sign among the two
        axes = axes[:, ::-1] * np.where(self.C.sum(axis=0) @ axes[:, ::-1] < 0, -1.0, 1.0)
        return self.transformed(axes.T / spread[:, None], axes * spread)


def propagate(A: np.ndarray, drive: np.ndarray, start: np.ndarray) -> np.ndarray:
    """K recursions at once: s[:, 0] = start, s[:, t+1] = A s[:, t] + drive[:, t].

    All are (n, T, K), and the start is (n, K).

    The last drive is not used. Steps are doubled, s[t] += A^k s[t-k] for k = 1, 2, 4, ..., so that
    a chunk takes a few large products and no loop over time.
    """
    n, length, width = drive.shape
    states = np.empty((n, length, width))
    for begin in range(0, length, _CHUNK):
        end = min(begin + _CHUNK, length)
        part = states[:, begin:end]
        part[:, 0] = start if begin == 0 else A @ states[:, begin - 1] + drive[:, begin - 1]
        part[:, 1:] = drive[:, begin : end - 1]
        power = A
        step = 1
        while step < end - begin:
            part[:, step:] += wide_product(power, part[:, :-step].reshape(n, -1)).reshape(
                n, -1, width
            )
            power = power @ power
            step = 2 * step
    return states


def spectral_radius(A: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(A)).max(initial=0.0))


def stabilised(A: np.ndarray, limit: float = MAX_RADIUS) -> np.ndarray:
    """A with every eigenvalue outside the given radius drawn back to it.

    The same A where there is none.

    Works on the diagonal blocks of the real Schur form: scaling a block scales its eigenvalues and
    touches no other.
    """
    if spectral_radius(A) <= limit:
        return A
    T, Q = schur(A, output="real")
    row = 0
    while row < len(T):
        size = 2 if row + 1 < len(T) and T[row + 1, row] != 0.0 else 1
        block = slice(row, row + size)
        radius = spectral_radius(T[block, block])
        if radius > limit:
            T[block, block] *= limit / radius
        row += size
    guarded = Q @ T @ Q.T
    # rounding, which eigenvalues drawn to one place amplify
    while (radius := spectral_radius(guarded)) > limit:
        guarded *= (1.0 - 1e-9) * limit / radius
    return guarded
