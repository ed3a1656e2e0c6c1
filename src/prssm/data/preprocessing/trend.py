"""`detrend`: the mean, or a straight line over time, taken from every column and given back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from prssm.data.preprocessing.step import ModelStep, numbers
from prssm.data.record import Record

KINDS = ("mean", "linear")
_SLOPES = ("u_slope", "y_slope")
_FAR = 2.0  # times the length of training: so far ahead a line is a guess


@dataclass(frozen=True, eq=False)
class Detrend(ModelStep):
    """The mean, and with `linear` slopes per second, found over all training rows.

    A line is a function of the time since the recording began. Over a new recording it begins
    anew; over the rest of the training recording it goes on. Predictions get it back. It is zero in
    the `middle` of training: the level there is the mean, which the model's scales take out.
    """

    word = "detrend"
    says = "take the mean (or a straight line over time) out; predictions get it back"
    form = "mean or linear"
    centres = True

    value: str
    kind: str
    middle: float = 0.0
    end: float = 0.0  # of the training data, on the same clock
    u_slope: np.ndarray | None = None
    y_slope: np.ndarray | None = None

    @classmethod
    def of(cls, value: str) -> Self:
        kind = value or "mean"
        if kind not in KINDS:
            raise cls.wrong(value)
        return cls(value, kind)

    @property
    def row_by_row(self) -> bool:
        """A constant needs no clock, a line does."""
        return self.kind == "mean"

    def learn(self, records: Sequence[Record]) -> Self:
        clock = np.concatenate([record.clock for record in records])
        middle = float(clock.mean())
        since = clock - middle
        u = np.concatenate([record.u for record in records])
        y = np.concatenate([record.y for record in records])
        none = self.kind == "mean"
        return replace(
            self,
            middle=middle,
            end=float(clock.max()),
            u_slope=np.zeros(u.shape[1]) if none else slopes(since, u),
            y_slope=np.zeros(y.shape[1]) if none else slopes(since, y),
        )

    def apply(self, record: Record, *, causal: bool = False) -> Record:
        if self.kind == "mean":
            return record
        u = record.u - self._since(record) * self.u_slope
        if not record.output_dim:
            return record.changed(u=u)
        return record.changed(u=u, y=record.y - self.taken(record))

    def taken(self, record: Record) -> Any:
        return 0.0 if self.kind == "mean" else self._since(record) * self.y_slope

    def _since(self, record: Record) -> np.ndarray:
        return (record.clock - self.middle)[:, None]

    def cautions(self, record: Record) -> list[str]:
        """A line that is carried on far beyond the data that it was found in."""
        last = float(record.clock[-1])
        if self.kind == "mean" or last <= _FAR * self.end:
            return []
        unit = "s" if record.dt else "rows"
        return [
            f"{record.name}: the line of {self} was found over {self.end:.4g} {unit} and is "
            f"carried on to {last:.4g} {unit}: so far ahead it is a guess"
        ]

    def learnt(self) -> dict[str, Any]:
        arrays = {name: np.asarray(getattr(self, name)).tolist() for name in _SLOPES}
        return {"middle": self.middle, "end": self.end, **arrays}

    def restored(
        self, learnt: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Self:
        u_slope = numbers(self, learnt["u_slope"], len(inputs))
        y_slope = numbers(self, learnt["y_slope"], len(outputs))
        middle, end = numbers(self, [learnt["middle"], learnt["end"]], 2).tolist()
        return replace(self, middle=middle, end=end, u_slope=u_slope, y_slope=y_slope)


def slopes(since: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The slope of every column by least squares over its known values, (D,)."""
    found = np.zeros(values.shape[1])
    for i, column in enumerate(values.T):
        known = np.isfinite(column)
        if known.sum() < 2:
            continue
        t = since[known] - since[known].mean()
        size = float(t @ t)
        if size > 0.0:
            found[i] = float(t @ (column[known] - column[known].mean())) / size
    return found
