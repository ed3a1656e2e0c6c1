"""Columns too much alike, and data too little: what repeats others, and tests unlike training."""

from collections.abc import Iterator, Sequence

import numpy as np

from prssm.data.advice.looked import Looked, Whole
from prssm.data.advice.note import Note
from prssm.data.domain import MARGIN

_SAME = 0.999  # share of a column's variance that the others explain
_MANY = 0.1  # share of test rows outside of the training range
_PACE = 3.0  # times as fast, or as slow


def collinear(looked: Looked) -> Iterator[Note]:
    """Each output, and each input, that is a combination of the others."""
    first = looked.records[0]
    for word, names, values in (
        ("input", first.input_names, np.concatenate([r.u for r in looked.records])),
        ("output", first.output_names, np.concatenate([r.y for r in looked.records])),
    ):
        yield from _repeated(word, names, values)


def _repeated(word: str, names: Sequence[str], values: np.ndarray) -> Iterator[Note]:
    known = values[np.isfinite(values).all(axis=1)]
    if len(known) < 3 * len(names) or len(names) < 2:
        return
    scaled = known - known.mean(axis=0)
    left = list(range(len(names)))
    for i in reversed(range(len(names))):  # a later column repeats an earlier one
        others = [k for k in left if k != i]
        total = float(scaled[:, i] @ scaled[:, i])
        if not others or not total > 0.0:
            continue
        table = scaled[:, others]
        weights = np.linalg.lstsq(table, scaled[:, i], rcond=None)[0]
        rest = scaled[:, i] - table @ weights
        share = 1.0 - float(rest @ rest) / total
        if share < _SAME:
            continue
        left.remove(i)
        yield Note(
            "collinear",
            names[i],
            f"{word} {names[i]!r} is a combination of the other {word}s: they explain "
            f"{100 * share:.4g} % of it",
            f"leave it out, it adds nothing but another {word}",
        )


def unlike(looked: Looked) -> Iterator[Note]:
    """Columns of the test that leave the training range, and inputs that move at another pace."""
    if not looked.test:
        return
    others = {(c.word, c.name): c for c in Looked(looked.test).columns()}
    for column in looked.columns():
        test = others.get((column.word, column.name))
        if test is None or not len(test.known) or not len(column.known):
            continue
        yield from _beyond(column, test)
        if column.word == "input":
            yield from _other_pace(column, test)


def _beyond(column: Whole, test: Whole) -> Iterator[Note]:
    low, high = column.known.min(), column.known.max()
    margin = MARGIN * (high - low)
    away = (test.known < low - margin) | (test.known > high + margin)
    if away.mean() < _MANY:
        return
    yield Note(
        "test range",
        column.name,
        f"{column.label} is outside of its training range ({low:.4g} to {high:.4g}) in "
        f"{away.mean():.0%} of the test rows, from {test.known.min():.4g} to "
        f"{test.known.max():.4g}",
        "train on data that cover it, or do not trust the score there",
    )


def _other_pace(column: Whole, test: Whole) -> Iterator[Note]:
    ratio = _quickness(test) / max(_quickness(column), 1e-300)
    if 1.0 / _PACE < ratio < _PACE:
        return
    word = "faster" if ratio > 1.0 else "slower"
    yield Note(
        "test pace",
        column.name,
        f"{column.label} moves {max(ratio, 1.0 / max(ratio, 1e-300)):.2g} times {word} in the "
        "test than in training",
        "train on data of that pace, too",
    )


def _quickness(column: Whole) -> float:
    """The root mean square of changes from row to row, in deviations."""
    changes = np.concatenate([np.diff(part) for part in column.parts])
    return float(np.sqrt(np.nanmean(changes**2)) / max(column.known.std(), 1e-300))
