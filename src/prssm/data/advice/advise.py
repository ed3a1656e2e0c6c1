"""`advise`: notes about recordings, from all checks.

A new check is a function of `Looked` that gives notes, and a name in `CHECKS`. It must say nothing
of sound data: `studies/advice_alarms.py` counts how often it does.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prssm.data.advice.delays import delay
from prssm.data.advice.drift import drift
from prssm.data.advice.excitation import poor, still
from prssm.data.advice.gaps import missing
from prssm.data.advice.levels import clipping, quantisation
from prssm.data.advice.likeness import collinear, unlike
from prssm.data.advice.looked import Looked
from prssm.data.advice.note import Note
from prssm.data.advice.rate import fast, slow
from prssm.data.advice.spikes import outliers
from prssm.data.advice.values import value_notes
from prssm.data.coerce import as_records, check_alike
from prssm.data.record import Record

Check = Callable[[Looked], Iterable[Note]]


def advise(
    data: Any,
    y: Any = None,
    *,
    test: Any = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    time: str | None = None,
) -> list[Note]:
    """What looks wrong in data, or could be better, one Note each; none of sound data.

    Data are as in `fit`; `test` are data that a model will be scored on.
    """
    records = as_records(data, y, inputs=inputs, outputs=outputs, time=time)
    check_alike(records)
    others = [] if test is None else as_records(test, inputs=inputs, outputs=outputs, time=time)
    return notes_about(records, others)


def notes_about(records: Sequence[Record], test: Sequence[Record] = ()) -> list[Note]:
    """The notes of all checks about Records."""
    looked = Looked(records, test)
    found: dict[tuple[str, str], Note] = {}
    for check in CHECKS:
        for note in check(looked):
            found.setdefault((note.what, note.where), note)  # one line about a thing is enough
    return list(found.values())


def _values(looked: Looked) -> list[Note]:
    return value_notes(looked.records)


CHECKS: tuple[Check, ...] = (
    missing,
    _values,
    outliers,
    clipping,
    quantisation,
    still,
    drift,
    poor,
    delay,
    fast,
    slow,
    collinear,
    unlike,
)
