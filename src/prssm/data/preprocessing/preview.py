"""What steps would do to recordings: before and after, for a look before a fit.

for look in preview(records, ["cut=100:900", "lowpass=2Hz"]):
    plot(look.before), plot(look.after)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.coerce import as_records
from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.record import Record
from prssm.foundation.errors import DataError


@dataclass(frozen=True, eq=False)
class Preview:
    """One recording before, and what is left of it: the parts that train and that are held back.

    `clock` of each Record says where its rows are on one axis. `notes` are lines in words.
    """

    before: Record
    after: list[Record]
    held_out: list[Record]
    notes: tuple[str, ...] = ()


def preview(
    data: Any,
    steps: str | Sequence[str],
    y: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    time: str | None = None,
) -> list[Preview]:
    """What the steps do to each recording, as `fit(..., preprocess=steps)` would.

    Data are as in `fit`. `after` has the values that a model is trained on, but for the scales.
    """
    records = as_records(data, y, inputs=inputs, outputs=outputs, time=time)
    raw = Preprocessing.of(steps)
    learnt, _ = raw.learn(raw.training(records))
    looks = []
    for record in records:
        shown = _some(raw.training, record)
        held_out = [learnt.prepare(part).seen for part in _some(raw.held_out, record)]
        after = [learnt.prepare(part).seen for part in shown]
        notes = _notes(record, shown, after=after, held_out=held_out)
        looks.append(Preview(record, after, held_out, notes))
    return looks


def _some(choice: Any, record: Record) -> list[Record]:
    """What is chosen of one recording: nothing where a cut leaves nothing of it."""
    try:
        return choice([record])
    except DataError:
        return []


def _notes(
    record: Record, shown: Sequence[Record], *, after: Sequence[Record], held_out: Sequence[Record]
) -> tuple[str, ...]:
    """How many rows are left, held back and emptied, and at which step."""
    left = sum(map(len, after))
    told = [f"{left} of {len(record)} rows train"]
    if held_out:
        told.append(f"{sum(map(len, held_out))} rows are held back")
    emptied = sum(int(np.isnan(part.y).sum()) for part in shown) - int(np.isnan(record.y).sum())
    if emptied > 0:
        told.append(f"{emptied} values were emptied")
    if after and after[0].dt is not None and after[0].dt != record.dt:
        told.append(f"a row is {after[0].dt:.6g} s, it was {record.dt:.6g} s")
    return tuple(told)
