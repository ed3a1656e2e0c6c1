"""Subspace identification: the dynamics A and the output map C.

They come from a projection of future outputs on the past.

Block Hankel matrices of a record: Yf = G X + H Uf + noise, with G = [C; CA; CA^2; ...]. Regressing
the inputs out of Yf and of the past (inputs and outputs) and projecting one on the other leaves G's
column space, which a singular value decomposition finds (PO-MOESP; with whitened future outputs,
canonical variate analysis).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from prssm.data.record import Record
from prssm.linear.algebra.products import small_product, small_root

BLOCKS = (6, 10, 16, 25)  # rows of past and of future that are tried
_MOST_COLUMNS = 120  # of the past: many outputs need few rows of it, and many columns take long
# variances relative to the mean one: of signals that depend on each other, and of outputs
_DEPENDENT = 1e-13
_NOISE = 1e-9


class Subspaces:
    """The directions of G in some records, found once for all orders."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.outputs = records[0].output_dim
        self._found: dict[int, list[np.ndarray]] = {}

    def dynamics(self, order: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs (A, C) of the given order, one for each usable block size and weighting.

        None if all records are too short.
        """
        # so many that the shifted observability matrix still has full rank
        smallest = -(-order // self.outputs) + 1
        width = self.outputs + self.records[0].input_dim
        sizes = (size for size in BLOCKS if size > smallest and size * width <= _MOST_COLUMNS)
        for block in sorted({smallest, *sizes}):
            for directions in self._directions(block):
                yield _shift(directions[:, :order], self.outputs)

    def _directions(self, block: int) -> list[np.ndarray]:
        """G's columns in the order of their weight, in one array for each weighting."""
        if block not in self._found:
            projection, future = _project(self.records, block)
            found = []
            if projection is not None:
                for weight in (np.eye(len(projection)), _root(future, _NOISE)):
                    whitened = np.linalg.solve(weight, projection)
                    found.append(weight @ np.linalg.svd(whitened, full_matrices=False)[0])
            self._found[block] = found
        return self._found[block]


def dynamics(records: Sequence[Record], order: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs (A, C) of the given order from some records; see `Subspaces.dynamics`."""
    return Subspaces(records).dynamics(order)


def _project(records: Sequence[Record], block: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Future outputs projected on the past, and their covariance.

    Both after the future inputs are regressed out.
    """
    usable = [record for record in records if len(record) > 2 * block]
    if not usable:
        return None, np.zeros(0)
    given, past, future = (
        np.concatenate(parts, axis=0)
        for parts in zip(*(_blocks(record, block) for record in usable), strict=True)
    )
    known = given.shape[1] + past.shape[1]
    if len(given) <= known + future.shape[1]:
        return None, np.zeros(0)
    signals = np.concatenate([given, past, future], axis=1).T
    root = _root(small_product(signals, signals), _DEPENDENT)
    explained = root[known:, given.shape[1] : known]
    rest = root[known:, given.shape[1] :]
    return explained, rest @ rest.T / len(given)


def _blocks(record: Record, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each moment a row: the future inputs, the past, and the future outputs."""
    u = _windows(record.u, 2 * block)
    y = _windows(record.outputs_filled(), 2 * block)
    past = np.concatenate([_flat(u[:, :block]), _flat(y[:, :block])], axis=1)
    return _flat(u[:, block:]), past, _flat(y[:, block:])


def _windows(values: np.ndarray, length: int) -> np.ndarray:
    """All stretches of so many rows: (stretch, row, column)."""
    return np.lib.stride_tricks.sliding_window_view(values, length, axis=0).transpose(0, 2, 1)


def _flat(windows: np.ndarray) -> np.ndarray:
    return windows.reshape(len(windows), -1)


def _root(covariance: np.ndarray, floor: float) -> np.ndarray:
    """Cholesky factor, with a floor that keeps noise-free data regular."""
    size = np.trace(covariance) / len(covariance)
    return small_root(covariance + (floor * size + 1e-30) * np.eye(len(covariance)))


def _shift(observability: np.ndarray, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """A and C from the matrix G = [C; CA; ...].

    The rows of G from the second block on are the rows before, times A.
    """
    A = np.linalg.lstsq(observability[:-outputs], observability[outputs:], rcond=None)[0]
    return A, observability[:outputs]
