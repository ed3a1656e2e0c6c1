"""`delay`: an input that acts later is handed to the model later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from prssm.data.clock.rules import seconds_of
from prssm.data.io.columns import did_you_mean_column, named
from prssm.data.preprocessing.step import ModelStep
from prssm.data.record import Record
from prssm.foundation.errors import DataError, ModelFileError, OptionError


@dataclass(frozen=True)
class Delay(ModelStep):
    """One input, shifted by rows; before there is a value, the first one is held."""

    word = "delay"
    says = "hand an input to the model later, by a known dead time"
    form = "an input and rows or a time, such as valve:3 or valve:0.3s"

    value: str
    column: str
    amount: str
    number: int = 0  # of the input, since new data may have other names
    rows: int = 0

    @classmethod
    def of(cls, value: str) -> Self:
        column, colon, amount = value.rpartition(":")
        if not colon or not column:
            raise cls.wrong(value)
        if not amount.isdecimal():
            try:
                seconds_of(amount, "preprocess")
            except OptionError:
                raise cls.wrong(value) from None
        return cls(value, column, amount)

    def learn(self, records: Sequence[Record]) -> Self:
        first = records[0]
        column = named(self.column, first.input_names, first.name, "input")
        if column is None:
            raise OptionError(
                f"preprocess: {self}: no input is called {self.column!r}."
                f"{did_you_mean_column(self.column, first.input_names or ['none'])}"
            )
        rows = self._rows(first)
        if not 0 < rows < min(map(len, records)):
            raise OptionError(
                f"preprocess: {self}: expected from 1 row to fewer than the "
                f"{min(map(len, records))} of the shortest recording, got {rows}"
            )
        return replace(self, rows=rows, number=first.input_names.index(column))

    def _rows(self, record: Record) -> int:
        if self.amount.isdecimal():
            return int(self.amount)
        if record.dt is None:
            raise DataError(f"{record.name}: {self} needs the sampling time, or give rows")
        return round(seconds_of(self.amount, "preprocess") / record.dt)

    def apply(self, record: Record, *, causal: bool = False) -> Record:
        u = np.array(record.u)
        u[:, self.number] = record.u[np.maximum(np.arange(len(u)) - self.rows, 0), self.number]
        return record.changed(u=u)

    @property
    def dead_time(self) -> str:
        in_rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        told = in_rows if self.amount.isdecimal() else f"{in_rows} ({self.amount})"
        return f"{told} for {self.column}"

    def learnt(self) -> dict[str, Any]:
        return {"rows": self.rows}

    def restored(
        self, learnt: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Self:
        rows = learnt["rows"]
        is_count = isinstance(rows, int) and not isinstance(rows, bool) and rows > 0
        column = named(self.column, inputs, "preprocessing", "input")
        if not is_count or column is None:
            raise ModelFileError(f"preprocessing: {self}: expected a number of rows, got {rows!r}")
        return replace(self, rows=rows, number=list(inputs).index(column))
