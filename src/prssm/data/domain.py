"""Domain: what the training data covered, so that a model can tell when it leaves it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from prssm.data.record import TIME_TOLERANCE, Record
from prssm.foundation.errors import DataError

MARGIN = 0.1  # how far beyond the training range a value may be, as a part of that range
MANY = 0.1  # of the measured rows, from which a record is of another kind than training
OTHER_RATE = 0.1  # sampling times that differ by more than this fraction are a mistake


@dataclass(frozen=True, eq=False)
class Domain:
    """Ranges of inputs and outputs in training, (2, Du) and (2, Dy): lowest, highest.

    `time` is the name of the time column, `units` those of columns that had one. A model file that
    was written before there were domains has none of it.
    """

    input_range: np.ndarray | None = None
    output_range: np.ndarray | None = None
    time: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Sequence[Record]) -> Self:
        """What these records cover."""
        first = records[0]
        return cls(
            _range([record.u for record in records]),
            _range([record.y for record in records]),
            None if first.stamps is None else first.stamps.name,
            dict(first.units),
        )

    def outside(self, record: Record) -> np.ndarray:
        """Which rows (T,) have an input beyond its training range by more than a margin."""
        return self.inputs_beyond(record.u)

    def inputs_beyond(self, u: np.ndarray) -> np.ndarray:
        """As `outside`, for inputs (T, Du) alone."""
        if self.input_range is None:
            return np.zeros(len(u), dtype=bool)
        return np.any(_beyond(u, self.input_range), axis=1)

    def about_inputs(self, u: np.ndarray, names: Sequence[str], label: str) -> list[str]:
        """A line for each input (T, Du) that goes beyond its training range."""
        return [] if self.input_range is None else _far(u, self.input_range, names, label=label)

    def cautions(self, record: Record, warmup: int, names: Sequence[str] = ()) -> list[str]:
        """What a run over this record must be distrusted for, one line each.

        `names` are those that its columns had in training, inputs first, where they differ.
        """
        found = self.about_inputs(record.u, record.input_names, record.name)
        if self.output_range is not None and record.output_dim:
            start = record.y[:warmup]
            found += _far_start(start, self.output_range, record)
        return found + self._other_units(record, names)

    def about_measured(self, measured: np.ndarray, names: Sequence[str], label: str) -> list[str]:
        """What keeps measured outputs (T, Dy) from judging the model, one line for each output.

        A free run reads none of them after its start, so this is for scores alone.
        """
        if self.output_range is None:
            return []
        beyond = _beyond(measured, self.output_range)  # what is missing is nowhere
        counted = np.where(beyond.mean(axis=0) > MANY, beyond, False)
        return [
            f"{label}: measured {names[column]!r} reaches {worst:.4g}, but training saw {low:.4g} "
            f"to {high:.4g} ({beyond[:, column].sum()} of {len(measured)} rows are outside): "
            "scores say little there"
            for column, worst, low, high in _outliers(measured, self.output_range, counted)
        ]

    def _other_units(self, record: Record, names: Sequence[str]) -> list[str]:
        columns = (*record.input_names, *record.output_names)
        return [
            f"{record.name}: column {name!r} is in {record.units[name]}, in training it was in "
            f"{self.units[trained]}: convert it, or the run is wrong"
            for name, trained in zip(columns, names or columns, strict=False)
            if name in record.units
            and self.units.get(trained, record.units[name]) != record.units[name]
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, for a model file."""
        return {
            "inputs": None if self.input_range is None else self.input_range.tolist(),
            "outputs": None if self.output_range is None else self.output_range.tolist(),
            "time": self.time,
            "units": dict(self.units),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        inputs = values.get("inputs")
        outputs = values.get("outputs")
        return cls(
            None if inputs is None else np.asarray(inputs, dtype=np.float64),
            None if outputs is None else np.asarray(outputs, dtype=np.float64),
            values.get("time"),
            values.get("units") or {},
        )


def check_rate(record: Record, dt: float | None) -> list[str]:
    """A sampling time that is not the model's: an error, or a caution where it nearly is."""
    if record.dt is None or dt is None or abs(record.dt - dt) <= TIME_TOLERANCE * dt:
        return []
    told = (
        f"{record.name}: sampled every {record.dt:.6g} s, but the model was trained on {dt:.6g} s"
    )
    if abs(record.dt - dt) > OTHER_RATE * dt:
        raise DataError(
            f"{told}; one step of it is one row, so resample the data (--resample {dt:.6g}s, in "
            f"Python prssm.read(..., resample={dt:.6g}))"
        )
    return [f"{told}: the run is slower or faster by {abs(record.dt / dt - 1):.0%}"]


def _range(parts: Sequence[np.ndarray]) -> np.ndarray:
    values = np.concatenate(parts)
    if not values.shape[1]:
        return np.zeros((2, 0))
    return np.stack([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])


def _beyond(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    margin = MARGIN * (limits[1] - limits[0])
    return (values < limits[0] - margin) | (values > limits[1] + margin)


def _far(values: np.ndarray, limits: np.ndarray, names: Sequence[str], *, label: str) -> list[str]:
    beyond = _beyond(values, limits)
    return [
        f"{label}: input {names[column]!r} reaches {worst:.4g}, but training saw "
        f"{low:.4g} to {high:.4g} ({beyond[:, column].sum()} of {len(values)} rows are "
        "outside): do not trust the run from there on"
        for column, worst, low, high in _outliers(values, limits, beyond)
    ]


def _far_start(start: np.ndarray, limits: np.ndarray, record: Record) -> list[str]:
    beyond = _beyond(start, limits) & np.isfinite(start)
    return [
        f"{record.name}: the first values of output {record.output_names[column]!r} reach "
        f"{worst:.4g}, but training saw {low:.4g} to {high:.4g}: the run starts from a state "
        "that the model does not know"
        for column, worst, low, high in _outliers(start, limits, beyond)
    ]


def _outliers(
    values: np.ndarray, limits: np.ndarray, beyond: np.ndarray
) -> Iterator[tuple[int, float, float, float]]:
    """Each column that is outside: its number, its worst value, and the limits."""
    for column in np.flatnonzero(beyond.any(axis=0)).tolist():
        low, high = limits[:, column]
        yield column, _worst(values[:, column], low, high), low, high


def _worst(values: np.ndarray, low: float, high: float) -> float:
    """The value that is the farthest outside."""
    known = values[np.isfinite(values)]
    away = np.maximum(low - known, known - high)
    return float(known[np.argmax(away)])
