"""`resample` and `decimate`: a slower (or other) constant rate, filtered first against aliases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from prssm.data.clock.repair import Rows, mended
from prssm.data.clock.rules import TimeRules, seconds_of
from prssm.data.clock.stamps import Stamps
from prssm.data.preprocessing.step import ModelStep
from prssm.data.record import LONGEST_STEP, TIME_TOLERANCE, Record
from prssm.foundation.errors import DataError, ModelFileError, OptionError


class Rate(ModelStep):
    """What both words share: new data are brought to the model's rate unless they have it."""

    @property
    def row_by_row(self) -> bool:
        """A running system is sampled at the model's rate."""
        return True

    def apply(self, record: Record, *, causal: bool = False) -> Record:
        target = self.target(record)
        if record.dt is not None and abs(record.dt - target) <= TIME_TOLERANCE * target:
            return record
        return on_step(record, target)

    def at_rows(self, record: Record) -> Record:
        return self.apply(record)

    def target(self, record: Record) -> float:
        """The step of the model, in seconds or (of a record without a sampling time) in rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Resample(Rate):
    """A new step in seconds; predictions come at this step, which is the model's `dt_`."""

    word = "resample"
    says = "bring data to this step; predictions come at it, too"
    form = "a time such as 0.1, 0.1s or 20ms"

    value: str
    seconds: float

    @classmethod
    def of(cls, value: str) -> Self:
        try:
            return cls(value, seconds_of(value, "preprocess"))
        except OptionError:
            raise cls.wrong(value) from None

    def target(self, record: Record) -> float:
        if record.dt is None:
            raise DataError(
                f"{record.name}: {self} needs the sampling time; name the time column, or give dt"
            )
        return self.seconds


@dataclass(frozen=True)
class Decimate(Rate):
    """Every so-manieth row, after a low-pass filter; also for data without a sampling time."""

    word = "decimate"
    says = "keep every so-manieth row, filtered first"
    form = "a whole number of rows from 2 on"

    value: str
    factor: int
    step: float | None = None  # seconds, where training had a sampling time

    @classmethod
    def of(cls, value: str) -> Self:
        if not value.isdecimal() or not 2 <= int(value) <= 10**6:
            raise cls.wrong(value)
        return cls(value, int(value))

    def learn(self, records: Sequence[Record]) -> Self:
        dt = records[0].dt
        return replace(self, step=None if dt is None else dt * self.factor)

    def target(self, record: Record) -> float:
        if record.dt is None:
            return float(self.factor)
        return self.step or record.dt * self.factor

    def learnt(self) -> dict[str, Any]:
        return {"step": self.step}

    def restored(
        self, learnt: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Self:
        step = learnt["step"]
        is_step = isinstance(step, float) and 0.0 < step < LONGEST_STEP
        if step is not None and not is_step:
            raise ModelFileError(f"preprocessing: {self}: expected a time, got {step!r}")
        return replace(self, step=step)


def on_step(record: Record, step: float) -> Record:
    """The record at another step: seconds, or rows where it has no sampling time."""
    dt = record.dt or 1.0
    clock = record.clock[0] + dt * np.arange(len(record))
    stamps = record.stamps or Stamps("time", clock, clock)
    rows = Rows(replace(stamps, seconds=clock), record.u, record.y)
    (part,) = mended(rows, TimeRules(resample=step), record.name, place=lambda row: f"row {row}")
    return record.changed(
        u=part.u,
        y=part.y if record.output_dim else None,
        dt=None if record.dt is None else step,
        stamps=None if record.stamps is None else part.stamps,
        origin=record.origin if record.dt else record.origin / step,
    )
