"""Estimate: what the measurements say of every row, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prssm.prediction.prediction import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Prediction):
    """A filtered or smoothed run.

    `mean` and `std` (T, Dy) are those of the outputs without the sensors' white noise, the states
    those of the mixture's first member.

    `innovation` is measured minus expected one row before, NaN where nothing was measured;
    `innovation_std` is its deviation as the filter expected it; `row_log_likelihood` (T,) is the
    log-density of each row given all earlier ones, 0 where nothing was measured.
    """

    innovation: np.ndarray | None = None
    innovation_std: np.ndarray | None = None
    row_log_likelihood: np.ndarray | None = None

    @property
    def log_likelihood(self) -> float:
        """Log-density of all that was measured."""
        found = self.row_log_likelihood
        return 0.0 if found is None else float(found.sum())

    def to_columns(self) -> dict[str, np.ndarray]:
        """The columns of a prediction, then innovations and states."""
        columns = super().to_columns()
        for i, name in enumerate(self.output_names):
            if self.innovation is not None and self.innovation_std is not None:
                columns[f"{name}_innovation"] = self.innovation[:, i]
                columns[f"{name}_innovation_std"] = self.innovation_std[:, i]
        if self.state_mean is not None and self.state_std is not None:
            for d in range(self.state_mean.shape[1]):
                columns[f"state{d + 1}_mean"] = self.state_mean[:, d]
                columns[f"state{d + 1}_std"] = self.state_std[:, d]
        return columns
