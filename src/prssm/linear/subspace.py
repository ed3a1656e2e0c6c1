"""Subspace identification: the dynamics A and the output map C from a projection of future outputs
on the past.

Block Hankel matrices of a record: Yf = G X + H Uf + noise, with G = [C; CA; CA^2; ...]. Regressing
the inputs out of Yf and of the past (inputs and outputs) and projecting one on the other leaves G's
column space, which a singular value decomposition finds (PO-MOESP; with whitened future outputs,
canonical variate analysis).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from prssm.data.record import Record
from prssm.linear.triangle import triangle

BLOCKS = (6, 10, 16, 25)  # rows of past and of future that are tried


def dynamics(records: Sequence[Record], order: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs (A, C) of the given order, one for each usable block size and weighting; none if all
    records are too short.
    """
    outputs = records[0].output_dim
    # so many that the shifted observability matrix still has full rank
    smallest = -(-order // outputs) + 1
    for block in sorted({smallest, *(size for size in BLOCKS if size > smallest)}):
        projection, future = _project(records, block)
        if projection is None:
            continue
        for weight in (np.eye(len(projection)), _root(future)):
            left = np.linalg.svd(np.linalg.solve(weight, projection))[0]
            yield _shift(weight @ left[:, :order], outputs)


def _project(records: Sequence[Record], block: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Future outputs projected on the past, and their covariance, both after the future inputs are
    regressed out.
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
    R = triangle(np.concatenate([given, past, future], axis=1)).T
    explained = R[known:, given.shape[1] : known]
    rest = R[known:, given.shape[1] :]
    return explained, rest @ rest.T / len(given)


def _blocks(record: Record, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each moment a row: the future inputs, the past, and the future outputs."""
    u, y = (
        np.lib.stride_tricks.sliding_window_view(values, 2 * block, axis=0).transpose(0, 2, 1)
        for values in (record.u, record.outputs_filled())
    )
    past = np.concatenate([_flat(u[:, :block]), _flat(y[:, :block])], axis=1)
    return _flat(u[:, block:]), past, _flat(y[:, block:])


def _flat(windows: np.ndarray) -> np.ndarray:
    """Each window as one row."""
    return windows.reshape(len(windows), -1)


def _root(covariance: np.ndarray) -> np.ndarray:
    """Cholesky factor, with a floor that keeps noise-free data regular."""
    size = np.trace(covariance) / len(covariance)
    return np.linalg.cholesky(covariance + (1e-9 * size + 1e-30) * np.eye(len(covariance)))


def _shift(observability: np.ndarray, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """A and C from G = [C; CA; ...]: the rows of G from the second block on are the rows before,
    times A.
    """
    A = np.linalg.lstsq(observability[:-outputs], observability[outputs:], rcond=None)[0]
    return A, observability[:outputs]
