"""A free run as a method gives it, before it is told in the user's units."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from prssm.data.resample import at_all_rows


@dataclass(frozen=True, eq=False)
class Simulated:
    """A free run in scaled units: what a method returns before un-scaling."""

    mean: np.ndarray
    std: np.ndarray
    samples: np.ndarray | None = None
    state_mean: np.ndarray | None = None
    state_std: np.ndarray | None = None
    # Times (T, Dy) that the band is wider already, where the data say little; none: nowhere.
    wider: np.ndarray | None = None

    def at_all_rows(self, stride: int, rows: int) -> Self:
        """At each of so many rows, from a run at a rate that is slower by `stride`.

        Samples keep the deviation.
        """
        mean = at_all_rows(self.mean, stride, rows)
        std = at_all_rows(self.std, stride, rows)
        samples, state_mean, state_std = (
            None if part is None else at_all_rows(part, stride, rows)
            for part in (self.samples, self.state_mean, self.state_std)
        )
        run = replace(
            self, mean=mean, std=std, samples=samples, state_mean=state_mean, state_std=state_std
        )
        return run.with_std(std)  # noises of two steps average out between them

    def widened(self, factor: np.ndarray) -> Self:
        """The run with so many times its band, (T, Dy), where that is not as wide already."""
        more = factor if self.wider is None else np.maximum(1.0, factor / self.wider)
        samples = self.samples
        if samples is not None:
            samples = self.mean + more * (samples - self.mean)
        return replace(self, std=more * self.std, samples=samples)

    def with_std(self, std: np.ndarray) -> Self:
        """The run with another deviation, which its samples keep."""
        samples = self.samples
        if samples is None:
            return replace(self, std=std)
        spread = samples.std(axis=0)
        factor = np.where(spread > 0.0, std / np.where(spread > 0.0, spread, 1.0), 1.0)
        return replace(self, std=std, samples=self.mean + (samples - self.mean) * factor)
