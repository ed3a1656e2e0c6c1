"""Spans of a recording as one writes them: `100:900` are rows, `10s:90s` seconds, ends may be open.

Several are separated by commas. Rows count from 0 and the last is not included, as in Python;
seconds count from the start of the recording.
"""

import re
from typing import NamedTuple

import numpy as np

from prssm.data.clock.rules import seconds_of
from prssm.data.record import Record
from prssm.foundation.errors import OptionError


class Span(NamedTuple):
    """From `begin` to `end`; None is an open end."""

    begin: float | None
    end: float | None
    seconds: bool

    def rows(self, record: Record) -> tuple[int, int]:
        """First row and the row after the last, within the record."""
        if not self.seconds:
            begin = 0 if self.begin is None else int(self.begin)
            end = len(record) if self.end is None else int(self.end)
            return min(begin, len(record)), min(end, len(record))
        clock = record.clock
        low = -np.inf if self.begin is None else self.begin
        high = np.inf if self.end is None else self.end
        slack = 1e-9 * (record.dt or 1.0)  # a row at 0.3 s is not before 0.1 * 3
        return int(np.searchsorted(clock, low - slack)), int(np.searchsorted(clock, high - slack))


def spans_of(text: str) -> list[Span] | None:
    """The spans of a text; None where it is no such text."""
    found = [_span(part.strip()) for part in text.split(",")]
    spans = [span for span in found if span is not None]
    if len(spans) < len(found):
        return None
    return spans


def _span(text: str) -> Span | None:
    begin, colon, end = (part.strip() for part in text.partition(":"))
    given = [part for part in (begin, end) if part]
    if not colon or not given:
        return None
    seconds = not all(re.fullmatch(r"\d+", part) for part in given)
    if seconds and any(re.fullmatch(r"[\d.]+", part) and float(part) for part in given):
        return None  # 10:90s says neither rows nor seconds
    try:
        limits = [_limit(part, seconds) for part in (begin, end)]
    except OptionError:
        return None
    low, high = limits
    if low is not None and high is not None and not low < high:
        return None
    return Span(low, high, seconds)


def _limit(text: str, seconds: bool) -> float | None:
    if not text:
        return None
    if not seconds:
        return float(int(text))
    if re.fullmatch(r"0+(\.0*)?\s*[a-z]*", text):
        return 0.0
    return seconds_of(text, "preprocess")
