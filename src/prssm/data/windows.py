"""Sub-trajectories of all records, as one flat array and the places where a window may start."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError


@dataclass(frozen=True, eq=False)
class Windows:
    """Records laid end to end.

    A window is `horizon` rows from one of `starts`, and never crosses into another record.

    Missing outputs are NaN in `y` and bridged in `y_filled`. `steps` counts the rows that were
    really recorded.
    """

    u: np.ndarray
    y: np.ndarray
    y_filled: np.ndarray
    starts: np.ndarray
    horizon: int
    steps: int


def sliding(records: Sequence[Record], horizon: int) -> Windows:
    """Every window of the given length: what mini-batches are drawn from."""
    short = [record for record in records if len(record) < horizon]
    if short:
        raise DataError(
            f"{short[0].name}: {len(short[0])} rows are too short for sub-trajectories of "
            f"horizon={horizon}; "
            f"choose horizon at most {min(len(record) for record in records)}"
        )
    offsets = np.cumsum([0] + [len(record) for record in records])
    starts = [
        offset + np.arange(len(record) - horizon + 1)
        for offset, record in zip(offsets, records, strict=False)
    ]
    return Windows(*_flat(records), np.concatenate(starts), horizon, int(offsets[-1]))


def whole(records: Sequence[Record]) -> Windows:
    """One window for each record, padded with missing outputs to the longest one.

    For the full gradient.
    """
    horizon = max(len(record) for record in records)
    padded = [_padded(record, horizon) for record in records]
    steps = sum(len(record) for record in records)
    return Windows(*_flat(padded), np.arange(len(records)) * horizon, horizon, steps)


def _flat(records: Sequence[Record]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.concatenate([record.u for record in records]),
        np.concatenate([record.y for record in records]),
        np.concatenate([record.outputs_filled() for record in records]),
    )


def _padded(record: Record, length: int) -> Record:
    missing = length - len(record)
    return Record(
        np.pad(record.u, ((0, missing), (0, 0))),
        np.pad(record.y, ((0, missing), (0, 0)), constant_values=np.nan),
        record.dt,
        name=record.name,
    )
