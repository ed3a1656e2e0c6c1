"""`lowpass`: what is faster than a frequency is taken from inputs and outputs, without delay."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from prssm.data.preprocessing.step import ModelStep, numbers
from prssm.data.record import Record
from prssm.foundation.errors import DataError, ModelFileError

_ORDER = 4
_FASTEST = 0.5  # cycles a row: nothing faster can be seen


@dataclass(frozen=True, eq=False)
class LowPass(ModelStep):
    """A Butterworth filter of order 4, forwards and backwards: zero phase, gain 1/2 at the cut-off.

    It needs the whole recording, so it serves recordings, not a running system. Inputs and outputs
    pass the same filter, which leaves a linear relation between them as it is. What the outputs
    lost is not given back as a signal; its variance is, in the band.
    """

    word = "lowpass"
    says = "take out what is faster than this, without delay (zero phase, whole recordings)"
    form = "a frequency above 0 such as 2 or 2Hz"

    value: str
    hertz: float
    removed: np.ndarray | None = None  # variance that the outputs lost in training, (Dy,)

    @classmethod
    def of(cls, value: str) -> Self:
        found = re.fullmatch(r"\s*([0-9.]+(?:e-?\d+)?)\s*(mHz|Hz|kHz|)\s*", value)
        try:
            number = float(found[1]) if found else 0.0
        except ValueError:
            number = 0.0
        if found is None or not 0.0 < number < np.inf:
            raise cls.wrong(value)
        return cls(value, number * {"mHz": 1e-3, "kHz": 1e3}.get(found[2], 1.0))

    def learn(self, records: Sequence[Record]) -> Self:
        first = records[0]
        if first.dt is None:
            raise DataError(
                f"{first.name}: {self} needs the sampling time; name the time column, or give dt"
            )
        if self.hertz * first.dt >= _FASTEST:
            raise DataError(
                f"{first.name}: {self}: expected less than {_FASTEST / first.dt:.4g} Hz, half of "
                "the sampling rate"
            )
        losses = [(record.y - self.apply(record).y) ** 2 for record in records]
        return replace(self, removed=np.nanmean(np.concatenate(losses), axis=0))

    def apply(self, record: Record, *, causal: bool = False) -> Record:
        """`causal` leaves the outputs alone, since this filter looks at later ones.

        Data that are too slow to hold anything to take out stay as they are.
        """
        from scipy.signal import butter

        if record.dt is None:
            raise DataError(
                f"{record.name}: {self} needs the sampling time, which training data had; give dt"
            )
        if self.hertz * record.dt >= _FASTEST:
            return record
        weights = butter(_ORDER, self.hertz, fs=1.0 / record.dt, output="sos")
        u = filtered(record.u, weights)
        if causal or not record.output_dim:
            return record.changed(u=u)
        y = np.where(np.isnan(record.y), np.nan, filtered(record.outputs_filled(), weights))
        return record.changed(u=u, y=y)

    def taken_variance(self) -> Any:
        return self.removed

    def learnt(self) -> dict[str, Any]:
        return {"removed": np.asarray(self.removed).tolist()}

    def restored(
        self, learnt: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Self:
        removed = numbers(self, learnt["removed"], len(outputs))
        if (removed < 0.0).any():
            raise ModelFileError(f"preprocessing: {self}: expected variances of at least 0")
        return replace(self, removed=removed)


def filtered(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Columns (T, D) through a filter, forwards and backwards; short ones with a short run-in."""
    from scipy.signal import sosfiltfilt

    if not values.shape[1]:
        return values
    usual = 3 * (2 * len(weights) + 1)
    return sosfiltfilt(weights, values, axis=0, padlen=min(usual, len(values) - 1))
