"""Values that look wrong: codes for missing ones, far ones, limits, frozen stretches, few levels.

Each check takes a column and gives nothing or a Note. A new check is one more function in
`_CHECKS`. A fit says these lines too, so they must be certain.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.advice.looked import Looked
from prssm.data.advice.note import Note
from prssm.data.advice.spikes import outliers
from prssm.data.record import Record

# What a Note calls values that are far from all others, so that they are not told twice.
_CALLED_CODES = "codes"
_CALLED_FAR = "far values"
# numbers that programs write for "no value"
CODES = (-9999.0, -999.0, -99.0, 999.0, 9999.0, 99999.0, -99999.0, -999.25, 32767.0, -32768.0)
_FAR = 10.0  # of the others' range: so far away lies a code or an outlier
_FEW_LEVELS = 24  # of a measured output: fewer are coarse
_AT_LIMIT = 0.05  # share of rows at the highest or lowest value that looks like a limit
_FROZEN = 30  # rows without the smallest change, while an input moves
_SEVERAL = 50  # values that an output has at least, to look like one that is measured finely


class Column(NamedTuple):
    """One column of all training records, end to end; `moves` is true where an input changes."""

    word: str
    name: str
    values: np.ndarray
    moves: np.ndarray

    @property
    def label(self) -> str:
        return f"{self.word} {self.name!r}"


def oddities(records: Sequence[Record]) -> list[str]:
    """What a fit says of its data, one line each.

    Spikes of outputs too, where they are not far enough to be said already. Those of an input may
    be what drove the system.
    """
    notes = value_notes(records)
    told = {note.where for note in notes if note.what in (_CALLED_CODES, _CALLED_FAR)}
    spikes = [note for note in outliers(Looked(records)) if note.where not in told]
    outputs = records[0].output_names
    return [str(note) for note in [*notes, *(note for note in spikes if note.where in outputs)]]


def value_notes(records: Sequence[Record]) -> list[Note]:
    """Notes about codes for missing values, outliers, limits, frozen stretches, coarse sensors."""
    u = np.concatenate([record.u for record in records])
    y = np.concatenate([record.y for record in records])
    moves = np.append(True, np.any(np.diff(u, axis=0) != 0.0, axis=1))
    first = records[0]
    columns = [
        *(Column("input", n, u[:, i], moves) for i, n in enumerate(first.input_names)),
        *(Column("output", n, y[:, i], moves) for i, n in enumerate(first.output_names)),
    ]
    found = [check(column) for column in columns for check in _CHECKS]
    return [note for note in found if note is not None]


def _missing_code(column: Column) -> Note | None:
    """A value such as -9999 that lies far from all others."""
    known = column.values[np.isfinite(column.values)]
    for code in CODES:
        here = known == code
        rest = known[~here]
        if not here.any() or len(rest) < 2:
            continue
        low, high = rest.min(), rest.max()
        away = max(low - code, code - high)
        if away > _FAR * max(high - low, 1e-300):
            return Note(
                _CALLED_CODES,
                column.name,
                f"{column.label} is {code:g} in {here.sum()} rows, far from the rest ({low:.4g} to "
                f"{high:.4g})",
                "if that means missing, empty those cells",
            )
    return None


def _outliers(column: Column) -> Note | None:
    """A few values far from all others."""
    known = column.values[np.isfinite(column.values)]
    if len(known) < _SEVERAL or _missing_code(column) is not None:
        return None
    low, high = np.percentile(known, [1.0, 99.0])
    reach = _FAR * (high - low)
    away = (known < low - reach) | (known > high + reach)
    if not reach > 0.0 or not away.any():
        return None
    worst = known[away][np.argmax(np.abs(known[away] - 0.5 * (low + high)))]
    advice = "empty those cells" if column.word == "output" else "correct them, or cut the rows out"
    return Note(
        _CALLED_FAR,
        column.name,
        f"{column.label} has {away.sum()} values far from the rest, up to {worst:.4g} (99 % are "
        f"{low:.4g} to {high:.4g})",
        f"if they are mistakes, {advice}",
        step="outliers" if column.word == "output" else "outliers=fill",
    )


def _limits(column: Column) -> Note | None:
    """A measured output that stays at its highest or lowest value."""
    if column.word != "output":
        return None  # an input may well be held at a limit
    known = column.values[np.isfinite(column.values)]
    if len(known) < 2 * _SEVERAL or len(np.unique(known)) < _SEVERAL:
        return None
    for word, value in (("highest", known.max()), ("lowest", known.min())):
        share = float(np.mean(known == value))
        if share >= _AT_LIMIT:
            return Note(
                "clipping",
                column.name,
                f"{column.label} is at its {word} value {value:.4g} in {share:.0%} of the rows",
                "if the sensor cannot show more, empty those cells",
            )
    return None


def _frozen(column: Column) -> Note | None:
    """An output that does not change at all for many rows, while an input does."""
    if column.word != "output" or len(np.unique(column.values[:2000])) < _SEVERAL:
        return None
    still = np.append(False, np.diff(column.values) == 0.0)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if end - begin >= _FROZEN and column.moves[begin:end].sum() > 2:
            return Note(
                "frozen",
                column.name,
                f"{column.label} does not change for {end - begin} rows from row {begin} on, "
                "while an input does",
                "if the sensor was stuck, empty those cells",
                rows=((int(begin), int(end)),),
            )
    return None


def _coarse(column: Column) -> Note | None:
    """An output with a few levels only."""
    if column.word != "output":
        return None
    known = column.values[np.isfinite(column.values)]
    levels = np.unique(known)
    if len(known) < 4 * _FEW_LEVELS or not 2 < len(levels) <= _FEW_LEVELS:
        return None
    step = float(np.diff(levels).min())
    return Note(
        "quantisation",
        column.name,
        f"{column.label} has {len(levels)} levels only, {step:.4g} apart",
        "the band cannot be narrower than that; record it with more digits if you can",
    )


_CHECKS: tuple[Callable[[Column], Note | None], ...] = (
    _missing_code,
    _outliers,
    _limits,
    _frozen,
    _coarse,
)
