"""Sub-trajectories of all records, as one flat array and the places where a window may start."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError

_MOST = 0.6  # of all rows
_ROWS_A_DRAW = 2  # of a window that is filled up: it is drawn as often as its rows ask for


@dataclass(frozen=True, eq=False)
class Windows:
    """Records laid end to end.

    A window is `horizon` rows from one of `starts`, and never crosses into another record.

    Missing outputs are NaN in `y` and bridged in `y_filled`. `steps` counts the rows that were
    really recorded, `source` says which of them each row is: -1 where a window was filled up.
    """

    u: np.ndarray
    y: np.ndarray
    y_filled: np.ndarray
    starts: np.ndarray
    horizon: int
    steps: int
    source: np.ndarray

    def rows(self, recorded: np.ndarray) -> np.ndarray:
        """What is true of all rows, from what is true of the recorded ones; not where filled up."""
        return np.append(recorded, False)[self.source]


def usual_length(records: Sequence[Record]) -> int:
    """Rows that records have at least, but for short ones that hold few of all rows.

    A gap may leave a stub of a log: it should not decide how the rest is cut.
    """
    return usual([len(record) for record in records])


def usual(lengths: Sequence[int] | np.ndarray) -> int:
    """`usual_length` of records with these lengths."""
    falling = np.sort(lengths)[::-1]
    held = np.cumsum(falling)
    return int(falling[np.searchsorted(held, _MOST * held[-1])])


def sliding(records: Sequence[Record], horizon: int) -> Windows:
    """Every window of the given length: what mini-batches are drawn from.

    A shorter record is one window, which is filled up with missing outputs. Such windows come after
    the records, so that these lie end to end as they are. Each is there as often as its rows ask
    for: every second row of a record that is twice as long as a window begins one.
    """
    if max(map(len, records)) < horizon:
        raise DataError(
            f"{records[0].name}: {len(records[0])} rows are too short for sub-trajectories of "
            f"horizon={horizon}; choose horizon at most {max(map(len, records))}"
        )
    offsets = np.cumsum([0] + [len(record) for record in records])
    recorded = int(offsets[-1])
    starts = [
        offset + np.arange(len(record) - horizon + 1)
        for offset, record in zip(offsets, records, strict=False)
    ]
    short = [number for number, record in enumerate(records) if len(record) < horizon]
    filled = [_padded(records[number], horizon) for number in short]
    each = [max(1, len(records[number]) // _ROWS_A_DRAW) for number in short]
    starts.append(np.repeat(recorded + horizon * np.arange(len(short)), each))
    sources = [_source(offsets[number], len(records[number]), horizon) for number in short]
    return Windows(
        *_flat([*records, *filled]),
        np.concatenate(starts),
        horizon,
        steps=recorded,
        source=np.concatenate([np.arange(recorded), *sources]),
    )


def whole(records: Sequence[Record]) -> Windows:
    """One window for each record, padded with missing outputs to the longest one.

    For the full gradient.
    """
    horizon = max(len(record) for record in records)
    padded = [_padded(record, horizon) for record in records]
    offsets = np.cumsum([0] + [len(record) for record in records])
    sources = [
        _source(offset, len(record), horizon)
        for offset, record in zip(offsets, records, strict=False)
    ]
    return Windows(
        *_flat(padded),
        np.arange(len(records)) * horizon,
        horizon,
        steps=int(offsets[-1]),
        source=np.concatenate(sources),
    )


def _source(begin: int, rows: int, length: int) -> np.ndarray:
    """Numbers of a record's rows from `begin` on, with -1 up to a length."""
    return np.append(begin + np.arange(rows), np.full(length - rows, -1))


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
