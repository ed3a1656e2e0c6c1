"""Normal equations of a system's parameters from products of signals that all outputs share.

An output is a sum of signals: states that inputs drive, inputs, one, and states that a first state
drives. Slopes, and states where C is searched, are the signals of what a search changes. For each
output d a map L_d (signals, parameters) says how parameters enter it. Equations are sums over
outputs of L_d' G R_d, where G are the products of the signals.

With few channels these maps are small matrices. With many they are large; but a parameter meets two
signals at most, the same ones for all outputs, so that such a sum takes a few multiplications for
each pair of parameters.
"""

from functools import reduce
from typing import NamedTuple, Protocol

import numpy as np

from prssm.linear.algebra.products import ALONE, small_product
from prssm.linear.sections import Sections


class Linear(NamedTuple):
    """Equations of what enters linearly: B, D and offset (P), and a first state (n)."""

    shared: np.ndarray  # (P, P)
    cross: np.ndarray  # (n, P)
    own: np.ndarray  # (n, n)


class Searched(NamedTuple):
    """Equations of the searched parameters (Q), and between them and the linear ones."""

    square: np.ndarray  # (Q, Q)
    shared: np.ndarray  # (P, Q)
    own: np.ndarray  # (n, Q)


class OutputMaps(Protocol):
    """How B, D, offset, a first state and the searched parameters enter the outputs."""

    def linear(self, products: np.ndarray, outputs: np.ndarray) -> Linear:
        """The equations of some outputs, from products (S, S) of all signals."""
        ...

    def searched(self, products: np.ndarray, outputs: np.ndarray) -> Searched:
        """The same from products (S + R, R) of all signals and those of the search with these."""
        ...

    def right_sides(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Right sides (P,) and (n,) from products (S, Dy) of signals and errors."""
        ...

    def searched_side(self, seen: np.ndarray) -> np.ndarray:
        """The right side (Q,) from products (R, Dy) of the search's signals and errors."""
        ...

    def weights(self, shared: np.ndarray, x0: np.ndarray) -> np.ndarray:
        """The signals' weights (Dy, S) in the outputs for these parameters."""
        ...


def output_maps(sections: Sections, inputs: int) -> OutputMaps:
    """The maps of a system with so many inputs: as matrices where products of these are small."""
    outputs, n = sections.C.shape
    states = (n + 1) * inputs + 1
    parameters = (n + outputs) * inputs + outputs
    if outputs == 1 or (states + n) * states * parameters <= ALONE:
        return _Matrices(sections, inputs)
    return _FewEntries(sections, inputs)


class _Matrices:
    """Maps as matrices (Dy, signals, parameters)."""

    def __init__(self, sections: Sections, inputs: int) -> None:
        self._sections = sections
        self._first = sections.observed()
        outputs, n, _ = self._first.shape
        self._states = (n + 1) * inputs + 1  # signals before those of a first state
        self._shared = np.zeros((outputs, self._states, (n + outputs) * inputs + outputs))
        for index in range(inputs):
            at = slice(index, n * inputs, inputs)
            self._shared[:, at, at] = self._first
        for d in range(outputs):
            for index in range(inputs):
                self._shared[d, n * inputs + index, (n + d) * inputs + index] = 1.0
            self._shared[d, (n + 1) * inputs, (n + outputs) * inputs + d] = 1.0

    def linear(self, products: np.ndarray, outputs: np.ndarray) -> Linear:
        cut = self._states
        sums = []
        for d in outputs:
            shared = self._shared[d]
            first = self._first[d]
            across = products[:, :cut] @ shared
            own = first.T @ products[cut:, cut:] @ first
            sums.append((shared.T @ across[:cut], first.T @ across[cut:], own))
        return Linear(*_added(sums))

    def _searched_maps(self) -> np.ndarray:
        """Matrices (Dy, signals, Q) of slopes, and of states where C is searched."""
        slopes = self._sections.slope_maps()
        outputs, rows, n = slopes.shape
        if outputs == 1:
            return slopes
        maps = np.zeros((outputs, rows + n, n + outputs * n))
        maps[:, :rows, :n] = slopes
        for d in range(outputs):
            maps[d, rows:, n + d * n : n + (d + 1) * n] = np.eye(n)
        return maps

    def searched(self, products: np.ndarray, outputs: np.ndarray) -> Searched:
        maps = self._searched_maps()
        count = len(products) - products.shape[1]
        sums = []
        for d in outputs:
            across = products @ maps[d]
            sums.append(
                (
                    maps[d].T @ across[count:],
                    self._shared[d].T @ across[: self._states],
                    self._first[d].T @ across[self._states : count],
                )
            )
        return Searched(*_added(sums))

    def right_sides(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cut = self._states
        return _summed(self._shared, seen[:cut]), _summed(self._first, seen[cut:])

    def searched_side(self, seen: np.ndarray) -> np.ndarray:
        return _summed(self._searched_maps(), seen)

    def weights(self, shared: np.ndarray, x0: np.ndarray) -> np.ndarray:
        return np.concatenate([self._shared @ shared, self._first @ x0], axis=1)


def _added(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    return [reduce(np.add, each) for each in zip(*parts, strict=True)]


def _summed(maps: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return np.einsum("dsp,sd->p", maps, seen)


class _Entries(NamedTuple):
    """One entry in each column of the maps, or in the first columns: its row, and its values."""

    rows: np.ndarray  # (P,)
    values: np.ndarray  # (Dy, P)


class _FewEntries:
    """Maps as at most two entries in a column."""

    def __init__(self, sections: Sections, inputs: int) -> None:
        self._sections = sections
        self._inputs = inputs
        self._observed = sections.observed()
        outputs, n, _ = self._observed.shape
        states = np.arange(n)
        paired = np.arange(2 * len(sections.pairs))
        partner = paired ^ 1  # the other state of the same section
        own = self._observed[:, states, states]
        other = self._observed[:, partner, paired]
        self._cut = (n + 1) * inputs + 1  # signals before those of a first state
        self._first = [_Entries(self._cut + states, own), _Entries(self._cut + partner, other)]
        channels = np.arange(inputs)
        each = np.eye(outputs)
        self._shared = [
            _Entries(
                np.concatenate(
                    [
                        np.arange(n * inputs),
                        np.tile(n * inputs + channels, outputs),
                        np.full(outputs, (n + 1) * inputs),
                    ]
                ),
                np.concatenate(
                    [np.repeat(own, inputs, axis=1), np.repeat(each, inputs, axis=1), each], axis=1
                ),
            ),
            _Entries(
                (partner[:, None] * inputs + channels).ravel(), np.repeat(other, inputs, axis=1)
            ),
        ]

    def _searched_entries(self) -> list[_Entries]:
        """Of slopes (4 for each pair, 1 for each single), then states."""
        C = self._sections.C
        outputs, n = C.shape
        pairs = len(self._sections.pairs)
        singles = n - 2 * pairs
        slopes = 4 * pairs + singles
        sections = np.repeat(np.arange(pairs), 2)  # sigma and alpha of each
        first = np.concatenate([2 * np.arange(2 * pairs), 4 * pairs + np.arange(singles)])
        states = np.tile(slopes + np.arange(n), outputs)
        seen = np.concatenate([C[:, 2 * sections], C[:, 2 * pairs :]], axis=1)
        each = np.repeat(np.eye(outputs), n, axis=1)
        return [
            _Entries(np.concatenate([first, states]), np.concatenate([-seen, each], axis=1)),
            _Entries(2 * np.arange(2 * pairs) + 1, -C[:, 2 * sections + 1]),
        ]

    def linear(self, products: np.ndarray, outputs: np.ndarray) -> Linear:
        return Linear(
            _between(self._shared, products, self._shared, outputs),
            _between(self._first, products, self._shared, outputs),
            _between(self._first, products, self._first, outputs),
        )

    def searched(self, products: np.ndarray, outputs: np.ndarray) -> Searched:
        searched = self._searched_entries()
        count = len(products) - products.shape[1]
        return Searched(
            _between(searched, products[count:], searched, outputs),
            _between(self._shared, products, searched, outputs),
            _between(self._first, products, searched, outputs),
        )

    def right_sides(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _against(self._shared, seen), _against(self._first, seen)

    def searched_side(self, seen: np.ndarray) -> np.ndarray:
        return _against(self._searched_entries(), seen)

    def weights(self, shared: np.ndarray, x0: np.ndarray) -> np.ndarray:
        outputs, n, _ = self._observed.shape
        inputs = self._inputs
        B = shared[: n * inputs].reshape(n, inputs)
        D = shared[n * inputs : (n + outputs) * inputs].reshape(outputs, inputs)
        offset = shared[(n + outputs) * inputs :, None]
        driven = (self._observed @ B).reshape(outputs, n * inputs)
        return np.concatenate([driven, D, offset, self._observed @ x0], axis=1)


def _between(
    left: list[_Entries], products: np.ndarray, right: list[_Entries], outputs: np.ndarray
) -> np.ndarray:
    """Sum of L_d' G R_d over some outputs d."""
    total = np.zeros((len(left[0].rows), len(right[0].rows)))
    for mine in left:
        part = products[mine.rows]
        for other in right:
            weight = small_product(mine.values[outputs].T, other.values[outputs].T)
            weight *= part[:, other.rows]
            total[: len(mine.rows), : len(other.rows)] += weight
    return total


def _against(maps: list[_Entries], seen: np.ndarray) -> np.ndarray:
    """Sum of L_d' seen[:, d] over all outputs d."""
    total = np.zeros(len(maps[0].rows))
    for one in maps:
        total[: len(one.rows)] += np.einsum("dp,pd->p", one.values, seen[one.rows])
    return total
