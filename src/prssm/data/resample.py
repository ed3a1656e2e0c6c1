"""Recordings that are sampled much faster than they move: at a slower rate, and back at every row.

A model that takes one step a row learns no more than one horizon of rows at a time. Where that is a
small part of a motion, it cannot tell how errors add up over the whole of it. One step over many
rows can.
"""

from collections.abc import Sequence

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import OptionError

# of an output's deviation, by which a straight line over two steps may miss the row in its middle:
# a
_BEND = 0.005
# sine keeps 63 steps a period, so that a horizon of 100 still sees more than one
# the same over two rows, which may be noise up to there; and how well its variance is known
_NOISE = 0.1
_CHANCE = 1.05
_KEPT_ROWS = 1000  # of all data, that are left at least
# of the shortest record; and where the user has chosen
_KEPT_OF_EACH = 100
_FEWEST = 4


def chosen_stride(records: Sequence[Record]) -> int:
    """The most rows a step that leave enough of them and lose nothing.

    Between the rows that stay, every output goes straight but for white noise.
    """
    most = min(sum(map(len, records)) // _KEPT_ROWS, min(map(len, records)) // _KEPT_OF_EACH)
    if most < 2:
        return 1
    noise = _bends(records, 1)
    stride = 1
    limit = _CHANCE * noise**2 + _BEND**2
    while (
        stride < most
        and np.all(noise <= _NOISE)
        and np.all(_bends(records, stride + 1) ** 2 <= limit)
    ):
        stride += 1
    return stride


def checked_stride(stride: int | None, records: Sequence[Record]) -> int | None:
    """What the user has chosen, if enough is left of every record."""
    shortest = min(records, key=len)
    most = max(1, len(shortest) // _FEWEST)
    if stride is not None and stride > most:
        raise OptionError(
            f"option stride: expected at most {most}, a quarter of the {len(shortest)} rows of "
            f"{shortest.name}, got {stride}"
        )
    return stride


def thinned(record: Record, stride: int) -> Record:
    """Every `stride`-th row with its outputs, and the mean of the inputs from there to the next."""
    if stride == 1:
        return record
    dt = None if record.dt is None else record.dt * stride
    return Record(
        _block_means(record.u, stride),
        record.y[::stride],
        dt,
        input_names=record.input_names,
        output_names=record.output_names,
        name=record.name,
    )


def thinned_inputs(u: np.ndarray, stride: int) -> np.ndarray:
    """Inputs of a run at the slow rate that reaches the last of the rows.

    Its last step begins there or after it: no row is beyond it.
    """
    means = _block_means(u, stride)
    reached = (len(means) - 1) * stride >= len(u) - 1
    return means if reached else np.concatenate([means, u[-1:]])


def at_all_rows(slow: np.ndarray, stride: int, rows: int) -> np.ndarray:
    """A run over `thinned_inputs`, at each of so many rows.

    Straight lines between its values (..., steps, columns).
    """
    at = np.arange(rows) / stride
    before = at.astype(int)
    after = np.minimum(before + 1, slow.shape[-2] - 1)
    share = (at - before)[:, None]
    return (1.0 - share) * slow[..., before, :] + share * slow[..., after, :]


def _block_means(u: np.ndarray, stride: int) -> np.ndarray:
    begins = np.arange(0, len(u), stride)
    return np.add.reduceat(u, begins, axis=0) / np.diff(np.append(begins, len(u)))[:, None]


def _bends(records: Sequence[Record], reach: int) -> np.ndarray:
    """How far each output is from a straight line, as a root mean square (Dy,).

    The line goes between the outputs `reach` rows before and after it; its middle counts.

    In units of its deviation; infinite where it cannot be told.
    """
    ys = [record.y for record in records]
    bends = np.concatenate([y[reach:-reach] - (y[: -2 * reach] + y[2 * reach :]) / 2.0 for y in ys])
    known = ~np.isnan(bends)
    squares = np.sum(np.where(known, bends, 0.0) ** 2, axis=0) / np.maximum(known.sum(axis=0), 1)
    variance = np.nanvar(np.concatenate(ys), axis=0)
    usable = known.any(axis=0) & (variance > 0.0)
    return np.sqrt(np.where(usable, squares / np.where(usable, variance, 1.0), np.inf))
