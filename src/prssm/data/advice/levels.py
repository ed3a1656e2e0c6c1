"""Sensors that end or count in steps: values that sit at an extreme, values on a coarse scale."""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked, Whole, runs_of
from prssm.data.advice.note import Note

_RUN = 3  # rows in a row at the same extreme value
_RUNS = 2  # such runs
_REPEATS = 0.05  # of other rows that repeat the row before: then runs mean nothing
_COARSE = 0.1  # deviations that a step of the scale is
_FEWEST = 100


def clipping(looked: Looked) -> Iterator[Note]:
    """Outputs that sit at their highest or lowest value for some rows, again and again."""
    for column in looked.columns():
        known = column.known
        if column.word != "output" or len(known) < _FEWEST:
            continue
        for word, value in (("highest", known.max()), ("lowest", known.min())):
            places = [
                (number, run)
                for number, part in enumerate(column.parts)
                for run in runs_of(part == value)
                if run[1] - run[0] >= _RUN
            ]
            if len(places) < _RUNS or _repeats(column, value) > _REPEATS:
                continue
            number = places[0][0]
            share = float(np.mean(known == value))
            yield Note(
                "clipping",
                column.name,
                f"{column.label} sits at its {word} value {value:.4g} {len(places)} times, in "
                f"{share:.1%} of the rows",
                "if the sensor cannot show more, empty those cells",
                record=number,
                rows=tuple(run for other, run in places if other == number),
            )


def _repeats(column: Whole, value: float) -> float:
    """Share of the other rows that repeat the row before: of a fine scale hardly any."""
    same = 0
    total = 0
    for part in column.parts:
        others = (part[1:] != value) & np.isfinite(part[1:])
        same += int(np.sum(others & (part[1:] == part[:-1])))
        total += int(others.sum())
    return same / max(total, 1)


def quantisation(looked: Looked) -> Iterator[Note]:
    """Outputs on a scale whose step is a good part of how they move."""
    for column in looked.columns():
        known = column.known
        if column.word != "output" or len(known) < _FEWEST:
            continue
        levels = np.unique(known)
        step = scale_step(levels)
        if len(levels) < 3 or step is None or step < _COARSE * known.std():
            continue
        yield Note(
            "quantisation",
            column.name,
            f"{column.label} has {len(levels)} levels, {step:.4g} apart, which is "
            f"{step / known.std():.2g} of its deviation",
            "the band cannot be narrower than that; record it with more digits if you can",
        )


def scale_step(levels: np.ndarray) -> float | None:
    """The step of the scale on which sorted values are; None where they are on none."""
    gaps = np.diff(levels)
    if not len(gaps):
        return None
    step = float(gaps.min())
    places = gaps / step
    rounding = 1e-9 * float(np.abs(levels).max()) / step + 1e-6
    on_scale = np.abs(places - np.round(places)) <= rounding * np.maximum(places, 1.0)
    return step if on_scale.all() else None
