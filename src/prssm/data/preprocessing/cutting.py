"""Which rows train: `cut` keeps spans of each recording, `split` holds some back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from prssm.data.preprocessing.spans import Span, spans_of
from prssm.data.preprocessing.step import TrainingStep
from prssm.data.record import Record
from prssm.data.splits import Stretch, can_be_cut, ends, split
from prssm.foundation.errors import DataError

_LEAST = 2  # rows of a Record


@dataclass(frozen=True)
class Cut(TrainingStep):
    """Train on these spans of each recording; several become experiments of their own."""

    word = "cut"
    says = "train on these rows (or seconds) alone"
    form = "spans such as 100:900, 10s:90s or 0:900,1200:"

    value: str
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, value: str) -> Self:
        spans = spans_of(value)
        if not spans:
            raise cls.wrong(value)
        return cls(value, tuple(spans))

    def training(self, records: Sequence[Record]) -> list[Record]:
        kept = []
        for record in records:
            for span in self.spans:
                begin, end = span.rows(record)
                if end - begin >= _LEAST:
                    kept.append(record[begin:end])
        if not kept:
            longest = max(map(len, records))
            raise DataError(
                f"preprocess: {self}: fewer than {_LEAST} rows are left of the {longest} rows "
                f"of {records[0].name}"
            )
        return kept


@dataclass(frozen=True)
class Split(TrainingStep):
    """Hold rows back, which are scored: those after a first share, or spans of each recording."""

    word = "split"
    says = "hold rows back for a score: all after a first share, or spans"
    form = "a share such as 0.7, or spans to hold back such as 900:1200"

    value: str
    share: float | None = None
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, value: str) -> Self:
        spans = spans_of(value)
        if spans:
            return cls(value, spans=tuple(spans))
        try:
            share = float(value)
        except ValueError:
            raise cls.wrong(value) from None
        if not 0.0 < share < 1.0:
            raise cls.wrong(value)
        return cls(value, share)

    def training(self, records: Sequence[Record]) -> list[Record]:
        return self._parts(records)[0]

    def held_out(self, records: Sequence[Record]) -> list[Record]:
        return self._parts(records)[1]

    def _parts(self, records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
        stretches = self._stretches(records)
        if not stretches:
            raise DataError(f"preprocess: {self}: no recording has 2 of those rows")
        shown, held_out = split(records, stretches)
        if not shown:
            raise DataError(f"preprocess: {self}: no rows are left to train on")
        return shown, held_out

    def _stretches(self, records: Sequence[Record]) -> list[Stretch]:
        if self.share is not None:
            stretches = ends(records, self.share)
            for record, stretch in zip(records, stretches, strict=True):
                if not can_be_cut(stretch):
                    raise DataError(
                        f"preprocess: {self}: of the {len(record)} rows of {record.name} a part "
                        "of fewer than 2 is left"
                    )
            return stretches
        found = []
        for i, record in enumerate(records):
            reached = 0
            for begin, end in sorted(span.rows(record) for span in self.spans):
                begin = max(begin, reached)  # spans may overlap
                reached = max(end, reached)
                if end - begin >= _LEAST:
                    found.append(Stretch(i, begin, end))
        return found
