"""Scaler: zero mean and unit variance with training statistics, and the exact way back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record


@dataclass(frozen=True, eq=False)
class Scaler:
    """Affine maps of inputs and outputs, fitted on training data only."""

    u_mean: np.ndarray
    u_std: np.ndarray
    y_mean: np.ndarray
    y_std: np.ndarray

    @classmethod
    def fit(
        cls, records: Sequence[Record], normalise: bool = True, *, centre: bool = False
    ) -> Self:
        """Statistics pooled over all records, missing outputs left out.

        `normalise=False` is the identity, but for the means where `centre` asks for them.
        """
        u = np.concatenate([record.u for record in records])
        y = np.concatenate([record.y for record in records])
        u_mean = u.mean(axis=0)
        y_mean = np.nanmean(y, axis=0)
        if normalise:
            return cls(u_mean, u.std(axis=0), y_mean, y_std=np.nanstd(y, axis=0))
        kept = 1.0 if centre else 0.0
        ones = np.ones(u.shape[1])
        return cls(kept * u_mean, ones, kept * y_mean, y_std=np.ones(y.shape[1]))

    def scale(self, record: Record) -> Record:
        """The record in the model's units; a record without outputs stays without."""
        u = (record.u - self.u_mean) / self.u_std
        y = (record.y - self.y_mean) / self.y_std if record.output_dim else None
        return Record(
            u,
            y,
            record.dt,
            input_names=record.input_names,
            output_names=record.output_names,
            name=record.name,
        )

    def outputs(self, scaled: np.ndarray) -> np.ndarray:
        """Outputs (..., Dy) back in physical units."""
        return scaled * self.y_std + self.y_mean

    def spreads(self, scaled: np.ndarray) -> np.ndarray:
        """Standard deviations (..., Dy) of outputs back in physical units."""
        return scaled * self.y_std

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {
            "u_mean": self.u_mean,
            "u_std": self.u_std,
            "y_mean": self.y_mean,
            "y_std": self.y_std,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        return cls(
            **{name: np.asarray(arrays[name]) for name in ("u_mean", "u_std", "y_mean", "y_std")}
        )
