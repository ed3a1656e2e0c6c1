"""A linear system as sections of first and second order side by side: cheap to run, few parameters.

The poles of a section are the zeros of d^2 + alpha d + sigma, where d is a pole minus one, so that
slow modes keep their digits and two real poles may become a complex pair. In a section's own
coordinates x[t+1] - x[t] = [[0, 1], [-sigma, -alpha]] x[t] + b u[t]; a section of first order has
x[t+1] - x[t] = -sigma x[t] + b u[t].
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import block_diag
from scipy.linalg.lapack import dtbtrs

# real poles of one section that are closer than this are moved apart, else C would have no solution
_APART = 1e-7
_ON_LIMIT = 1e-9  # a pole this close to the limit is on it


@dataclass(frozen=True, eq=False)
class Sections:
    """The poles and the output map of a system that is cut into sections.

    `pairs` (K, 2) of sigma and alpha, `singles` (Q,) of sigma, and the output map C (Dy, n) of the
    n = 2K + Q states, those of the pairs first.

    What else a system has (B, D, offset, first states) enters its outputs linearly; see
    `projection`.
    """

    pairs: np.ndarray
    singles: np.ndarray
    C: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray, C: np.ndarray, turn: int = 0) -> Self:
        """The sections with the same poles that are seen in the same way by the outputs.

        Neighbouring real poles share a section; `turn` by one gives them other partners.

        How large a mode is seen is left open: B makes up for it. With one output all modes are seen
        alike, so C says nothing.
        """
        poles, vectors = np.linalg.eig(A)
        seen = C @ vectors
        size = np.linalg.norm(seen, axis=0)
        seen = np.where(size > 0.0, seen / np.where(size > 0.0, size, 1.0), 1.0)
        order = _paired(poles, turn)
        poles = poles[order] - 1.0
        seen = seen[:, order]
        count = len(poles) // 2
        # the last pole has no partner where the order is odd: it is real
        first = poles[0 : 2 * count : 2]
        second = poles[1 : 2 * count : 2]
        # equal real poles; complex ones differ in sign
        close = np.abs(first - second) < _APART
        second = np.where(close, second - _APART, second)
        pairs = np.stack([(first * second).real, -(first + second).real], axis=1)
        singles = -poles[2 * count :].real
        if len(C) == 1:
            return cls(pairs, singles, _single_output(count, len(singles)))
        one = seen[:, 0 : 2 * count : 2]
        two = seen[:, 1 : 2 * count : 2]
        # C [1; d] is what is seen of the mode d: solve for both columns
        slope = (one - two) / (first - second)
        output_map = np.empty((len(C), len(A)))
        output_map[:, 0 : 2 * count : 2] = (one - slope * first).real
        output_map[:, 1 : 2 * count : 2] = slope.real
        output_map[:, 2 * count :] = seen[:, 2 * count :].real
        return cls(pairs, singles, output_map)

    @property
    def order(self) -> int:
        return 2 * len(self.pairs) + len(self.singles)

    @property
    def parameters(self) -> np.ndarray:
        """What must be searched: pairs, singles, and C where there are several outputs."""
        C = self.C.ravel() if len(self.C) > 1 else np.zeros(0)
        return np.concatenate([self.pairs.ravel(), self.singles, C])

    def moved(self, change: np.ndarray, max_radius: float) -> Self:
        """With changed parameters, poles outside the radius drawn back to it."""
        return self._moved(change).within(max_radius)

    def _moved(self, change: np.ndarray) -> Self:
        values = self.parameters + change
        pairs = values[: self.pairs.size].reshape(-1, 2)
        singles = values[self.pairs.size : self.order]
        C = values[self.order :].reshape(self.C.shape) if len(self.C) > 1 else self.C
        return type(self)(pairs, singles, C)

    def within(self, max_radius: float) -> Self:
        """With every pole outside the radius drawn back to it; the same where there is none."""
        poles = self._pair_poles()
        alone = 1.0 - self.singles
        radius = np.abs(poles)
        if radius.max(initial=0.0) <= max_radius and np.abs(alone).max(initial=0.0) <= max_radius:
            return self
        poles = poles * (max_radius / np.maximum(radius, max_radius)) - 1.0  # a pole may be 0
        pairs = np.stack([(poles[0] * poles[1]).real, -(poles[0] + poles[1]).real], axis=1)
        outside = (radius > max_radius).any(axis=0)
        return type(self)(
            np.where(outside[:, None], pairs, self.pairs),
            1.0 - np.clip(alone, -max_radius, max_radius),
            self.C,
        )

    def _pair_poles(self) -> np.ndarray:
        """Both poles (2, K) of each pair."""
        middle = -0.5 * self.pairs[:, 1]
        root = np.sqrt(middle**2 - self.pairs[:, 0] + 0.0j)
        return 1.0 + np.stack([middle + root, middle - root])

    @property
    def has_partners(self) -> bool:
        """Whether real poles could share a section in other ways."""
        real = int(np.sum(self._pair_poles().imag == 0.0)) + len(self.singles)
        return real > 2

    def directions(self, change: np.ndarray, max_radius: float) -> np.ndarray | None:
        """Directions (P, fewer) in which the parameters may go.

        A change along the others would push poles out that lie on the limit already. None where it
        pushes out no such pole.

        A pole on the limit stays there: its pair moves along a line on which the other real pole,
        or the angle, is free. That line is straight in sigma and alpha.
        """
        after = self._moved(change)
        poles = self._pair_poles()
        radius = np.abs(poles)
        pushed = (np.abs(after._pair_poles()) > max_radius).any(axis=0)
        pairs = np.flatnonzero(pushed & (radius > max_radius - _ON_LIMIT).any(axis=0))
        out = np.abs(1.0 - after.singles) > max_radius
        singles = np.flatnonzero(out & (np.abs(1.0 - self.singles) > max_radius - _ON_LIMIT))
        if not len(pairs) and not len(singles):
            return None
        free = np.eye(len(change))
        for index in pairs:
            outer = poles[int(np.argmax(radius[:, index])), index]
            is_real = outer.imag == 0.0
            free[2 * index, 2 * index + 1] = 1.0 - outer.real if is_real else 1.0
        return np.delete(free, [*(2 * pairs), *(2 * len(self.pairs) + singles)], axis=1)

    @property
    def A(self) -> np.ndarray:
        blocks = [np.array([[1.0, 1.0], [-sigma, 1.0 - alpha]]) for sigma, alpha in self.pairs]
        return block_diag(*blocks, *(1.0 - self.singles))

    def respond(self, late: np.ndarray) -> np.ndarray:
        """States (n, K, T) of the sections, from rest.

        K signals (K, T) drive them through the last state of each section.

        The signals come one row late: late[:, t] acts on the states at row t. An impulse at row 0
        is thus a first state.
        """
        states = np.empty((self.order, *late.shape))
        for index, (sigma, alpha) in enumerate(self.pairs):
            value = _filtered(late, [1.0, alpha - 2.0, 1.0 - alpha + sigma])
            _split(value, states[2 * index : 2 * index + 2])
        for index, sigma in enumerate(self.singles, start=2 * len(self.pairs)):
            states[index] = _filtered(late, [1.0, sigma - 1.0])
        return states

    def observed(self) -> np.ndarray:
        """Matrices (Dy, n, n) from the states that `respond` gives to outputs.

        When state j is driven, output d shows sum_i M[d, i, j] states[i].
        """
        count = 2 * len(self.pairs)
        maps = np.zeros((len(self.C), self.order, self.order))
        one = np.arange(0, count, 2)
        two = one + 1
        alone = np.arange(count, self.order)
        maps[:, one, two] = self.C[:, one]
        maps[:, two, two] = self.C[:, two]
        maps[:, one, one] = self.pairs[:, 1] * self.C[:, one] - self.pairs[:, 0] * self.C[:, two]
        maps[:, two, one] = self.C[:, one]
        maps[:, alone, alone] = self.C[:, alone]
        return maps

    def driven(self, states: np.ndarray, B: np.ndarray) -> np.ndarray:
        """States (n, T) of the system with inputs B (n, K).

        They are made from the states (n, K, T) that `respond` gives.
        """
        count = 2 * len(self.pairs)
        sigma = self.pairs[:, :1]
        alpha = self.pairs[:, 1:]
        w1 = states[0:count:2]
        w2 = states[1:count:2]
        b1 = B[0:count:2, None]
        b2 = B[1:count:2, None]
        first = (b1 @ w1)[:, 0]
        x = np.empty((self.order, states.shape[2]))
        x[0:count:2] = alpha * first + (b1 @ w2)[:, 0] + (b2 @ w1)[:, 0]
        x[1:count:2] = (b2 @ w2)[:, 0] - sigma * first
        x[count:] = (B[count:, None] @ states[count:])[:, 0]
        return x

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """What the outputs' derivatives by sigma and alpha are made of (4K + Q, T).

        The states of each section, through the section once more.

        Four for each pair (its first state, filtered to both states, then its second), one for a
        single. See `slope_maps`.
        """
        count = 2 * len(self.pairs)
        late = np.zeros_like(x)
        late[:, 1:] = x[:, :-1]
        signals = np.empty((2 * count + len(self.singles), x.shape[1]))
        for index, (sigma, alpha) in enumerate(self.pairs):
            value = _filtered(
                late[2 * index : 2 * index + 2], [1.0, alpha - 2.0, 1.0 - alpha + sigma]
            )
            both = signals[4 * index : 4 * index + 4].reshape(2, 2, -1).transpose(1, 0, 2)
            _split(value, both)
        for index, sigma in enumerate(self.singles):
            signals[2 * count + index] = _filtered(late[count + index], [1.0, sigma - 1.0])
        return signals

    def slope_maps(self) -> np.ndarray:
        """Matrices (Dy, 4K + Q, 2K + Q) that make derivatives by the parameters of `slopes`."""
        count = 2 * len(self.pairs)
        rows = 2 * count + len(self.singles)
        maps = np.zeros((len(self.C), rows, self.order))
        for index in range(len(self.pairs)):
            seen = -self.C[:, 2 * index : 2 * index + 2]
            maps[:, 4 * index : 4 * index + 2, 2 * index] = seen
            maps[:, 4 * index + 2 : 4 * index + 4, 2 * index + 1] = seen
        alone = np.arange(len(self.singles))
        maps[:, 2 * count + alone, count + alone] = -self.C[:, count:]
        return maps


def _filtered(signals: np.ndarray, recursion: list[float]) -> np.ndarray:
    """Signals (..., T) through the recursion sum_i a_i value[t - i] = signal[t]."""
    # A band matrix with ones on its diagonal: LAPACK solves it faster than SciPy's filter runs, and
    # nothing more has to be imported.
    length = signals.shape[-1]
    band = np.empty((len(recursion), length), order="F")
    band[:] = np.array(recursion)[:, None]
    value, _ = dtbtrs(band, signals.reshape(-1, length).T, uplo="L", diag="U")
    return value.T.reshape(signals.shape)


def _split(value: np.ndarray, out: np.ndarray) -> None:
    """A filter's output (K, T) as the two states (2, K, T) of its section."""
    out[0, :, 0] = 0.0
    out[0, :, 1:] = value[:, :-1]
    np.subtract(value, out[0], out=out[1])


def _single_output(pairs: int, singles: int) -> np.ndarray:
    return np.concatenate([np.tile([1.0, 0.0], pairs), np.ones(singles)])[None]


def _paired(poles: np.ndarray, turn: int) -> np.ndarray:
    """An order in which neighbours belong to one section.

    Complex pairs, then real poles from slow to fast.
    """
    complex_first = [
        index for index in np.argsort(-poles.real, kind="stable") if poles[index].imag > 0.0
    ]
    order: list[int] = []
    for index in complex_first:
        partner = int(np.argmin(np.abs(poles - poles[index].conj())))
        order += [int(index), partner]
    real = [int(index) for index in np.argsort(-poles.real) if poles[index].imag == 0.0]
    return np.array(order + real[turn:] + real[:turn], dtype=int)
