"""A number for each of many plausible systems, as its middle and a band around it."""

from dataclasses import dataclass

import numpy as np

SHARE = 0.95  # of the systems that lie inside a band
_SHOWN = 4  # numbers in a line of text


@dataclass(frozen=True, eq=False)
class Band:
    """The median over the systems, and the band that holds 95 of 100 of them.

    `samples` (S, ...) are the systems' own values, NaN where one has none.
    """

    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray
    samples: np.ndarray

    def __repr__(self) -> str:
        systems = f"{len(self.samples)} systems"
        if self.middle.size > _SHOWN:
            return f"Band(an array {self.middle.shape} over {systems})"
        numbers = ", ".join(
            f"{middle:.4g} ({low:.4g} to {high:.4g})"
            for middle, low, high in zip(
                self.middle.flat, self.low.flat, self.high.flat, strict=True
            )
        )
        return f"Band({numbers}; {systems})"

    @classmethod
    def of(cls, samples: np.ndarray, factor: np.ndarray | float = 1.0) -> "Band":
        """From values (S, ...); `factor` widens the band, as calibration does that of a run."""
        some = np.isfinite(samples).any(axis=0)
        shown = np.where(some, samples, 0.0)
        tail = (1.0 - SHARE) / 2.0
        low, middle, high = np.where(
            some, np.nanquantile(shown, [tail, 0.5, 1.0 - tail], axis=0), np.nan
        )
        return cls(
            middle, middle - factor * (middle - low), middle + factor * (high - middle), samples
        )
