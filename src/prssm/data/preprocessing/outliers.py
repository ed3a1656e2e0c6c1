"""Spikes of a few rows: found by medians of their neighbours, emptied or filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.preprocessing.step import TrainingStep
from prssm.data.record import Record

THRESHOLD = 8.0  # deviations of the neighbourhood
_REACH = 5  # rows before, and after, that are the neighbourhood
_LONGEST = 2  # rows of a spike
_HELD = 0.25  # of the rows that repeat the row before: then the column moves in steps
_FILL = "fill"
_TO_DEVIATION = 1.4826  # of a Gaussian: its deviation is so many median absolute ones


@dataclass(frozen=True)
class Outliers(TrainingStep):
    """Empty spikes of the outputs; with `fill` put the median of their neighbours, in inputs too.

    A spike is at most two rows long and so many deviations of its neighbourhood away from the
    medians there (in the manner of Hampel). A missing output is no problem for a model; a made-up
    one is.
    """

    word = "outliers"
    says = "empty spikes of the outputs; :fill puts the neighbours' median, in inputs too"
    form = "a number of deviations such as 8, and :fill where wanted"

    value: str
    threshold: float = THRESHOLD
    fill: bool = False

    @classmethod
    def of(cls, value: str) -> Self:
        number, _, mode = value.partition(":")
        if number == _FILL and not mode:
            number, mode = "", _FILL
        try:
            threshold = float(number) if number else THRESHOLD
        except ValueError:
            raise cls.wrong(value) from None
        if not 2.0 <= threshold < np.inf:
            raise cls.wrong(value, "; at least 2")
        if mode not in ("", _FILL):
            raise cls.wrong(value)
        return cls(value, threshold, mode == _FILL)

    def training(self, records: Sequence[Record]) -> list[Record]:
        return [self._mended(record) for record in records]

    def _mended(self, record: Record) -> Record:
        u = np.array(record.u)
        y = np.array(record.y)
        for column in y.T:
            found, middle = spikes(column, self.threshold)
            column[found] = middle[found] if self.fill else np.nan
        for column in u.T if self.fill else ():
            found, middle = spikes(column, self.threshold)
            column[found] = middle[found]
        return record.changed(u=u, y=y)


def spikes(values: np.ndarray, threshold: float = THRESHOLD) -> tuple[np.ndarray, np.ndarray]:
    """Which values (T,) are spikes, and what their neighbours say should be there.

    A spike is far from the medians of the rows before it and of those after it, and from their
    mean. So a slope is none, nor is an edge. The deviation is the larger of that nearby and the
    usual one of the column, so that a quiet stretch is no reason for an alarm.
    """
    if np.isfinite(values).sum() < 4 * _REACH or _is_held(values):
        return np.zeros(len(values), dtype=bool), np.array(values)
    padded = np.pad(values, _REACH + 1, mode="edge")
    sides = _medians(padded, _REACH)
    before = sides[1 : len(values) + 1]
    after = sides[_REACH + 2 : _REACH + 2 + len(values)]
    middle = 0.5 * (before + after)
    away = np.min([np.abs(values - level) for level in (before, after, middle)], axis=0)
    off = np.abs(values - middle)
    near = _medians(np.pad(off, _REACH, mode="reflect"), 2 * _REACH + 1)
    if not np.isfinite(near).any():  # measured so seldom that no value has neighbours
        return np.zeros(len(values), dtype=bool), np.array(values)
    usual = np.nanmedian(near)
    scale = _TO_DEVIATION * np.fmax(near, usual) + _rounding(values)
    with np.errstate(invalid="ignore"):
        found = away > threshold * scale
    found[:_REACH] = False
    found[-_REACH:] = False
    return _short(found), middle


def _medians(values: np.ndarray, count: int) -> np.ndarray:
    """Medians of every `count` values one after another; missing ones do not count."""
    around = np.lib.stride_tricks.sliding_window_view(values, count)
    if np.isfinite(values).all():
        return np.median(around, axis=1)
    found = np.full(len(around), np.nan)
    known = np.isfinite(around).any(axis=1)
    found[known] = np.nanmedian(around[known], axis=1)
    return found


def _is_held(values: np.ndarray) -> bool:
    """Whether values stay the same for some rows, as those of a switch: then a short one is one."""
    return bool(np.mean(values[1:] == values[:-1]) > _HELD)


def _rounding(values: np.ndarray) -> float:
    """What a value can be off by its digits: a step of a column with few levels, else nothing."""
    levels = np.unique(values[np.isfinite(values)])
    if len(levels) < 2:
        return np.inf
    return float(np.diff(levels).min())


def _short(found: np.ndarray) -> np.ndarray:
    """Those of the runs of marked rows that are at most as long as a spike."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], found.astype(np.int8), [0]])))
    kept = np.zeros_like(found)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        kept[begin:end] = end - begin <= _LONGEST
    return kept
