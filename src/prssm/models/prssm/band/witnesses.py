"""Models of the folds beside the one that is kept: where they disagree, the data say little.

Each of them has seen all but one part of the training data. How far their free runs are apart is
how much the kept model would have differed with other data: the jackknife's estimate of its error.
It is taken over the inputs of the run at hand, so that it knows what held-out stretches cannot: how
the training data serve these inputs. docs/explanation/calibration.md has what it is worth.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import equinox as eqx
import jax
import numpy as np

from prssm.models.prssm.filtering.short_start import Firsts
from prssm.models.prssm.filtering.usual_states import usual_from
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.stored_members import arrays_of, models_from

_NAME = "witnesses"  # what the names of their arrays begin with, in a model file
_USUAL = "witnesses_usual"
_SAMPLES = 50  # trajectories of each fold
_FARTHER = 2.0  # times the typical distance, that a fold counts at most
WITH_WITNESSES = 0.95  # of the calibrated band is left, for all that they do not explain


class Witnesses(eqx.Module):
    """Mixtures of some folds, each of as many members: `widening` says what they do to a band."""

    mixture: Mixture  # the members of all folds, fold after fold
    folds: int = eqx.field(static=True)

    @classmethod
    def from_parts(
        cls, folds: int | None, arrays: Mapping[str, np.ndarray], beside: Mixture
    ) -> Self | None:
        """From a model file, whose mixture is `beside`; none where it has none."""
        if folds is None:
            return None
        members = len(arrays[f"{_NAME}.log_output_std"])
        if not isinstance(folds, int) or folds < 2 or members % folds:
            raise TypeError(f"witnesses: expected those of some folds, got {members} of {folds!r}")
        like = jax.tree.map(lambda leaf: leaf[0], beside.models)
        models = models_from(arrays, _NAME, like, members=members)
        states = models.transition.log_process_std.shape[1]
        usual = usual_from(arrays, _USUAL, members, states=states)
        return cls(replace(beside, models=models, usual=usual), folds)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """For a model file."""
        return arrays_of(_NAME, self.mixture.models) | arrays_of(_USUAL, self.mixture.usual)

    def widening(
        self,
        std: np.ndarray,
        u: np.ndarray,
        y_start: np.ndarray,
        *,
        seed: int,
        weight: float,
        first: Firsts | None = None,
        most: np.ndarray | None = None,
    ) -> np.ndarray:
        """How many times wider (T, Dy) the band `std` of a run over scaled inputs must be.

        `weight`: how much of their disagreement counts (`Level.doubt`). `first`: where the run of
        each witness starts, if not where its recognition model says. `most` is the deviation
        (T, Dy) of who knows nothing: witnesses that run away say no more.
        """
        off = weight * self.disagreement(u, y_start, seed=seed, first=first)
        if most is not None:
            off = np.minimum(off, most)
        return np.sqrt(1.0 + (off / std) ** 2)

    def disagreement(
        self, u: np.ndarray, y_start: np.ndarray, *, seed: int, first: Firsts | None = None
    ) -> np.ndarray:
        """The jackknife's deviation (T, Dy) of the mean of a run."""
        first = first or self.mixture.firsts(u, y_start)
        runs = []
        for mine in np.split(np.arange(len(first.mean)), self.folds):
            fold = self.mixture.only(mine)
            begins = Firsts(first.mean[mine], first.factor[mine])
            runs.append(fold.run(u, y_start, _SAMPLES, seed, quick=True, first=begins).mean)
        return jackknife(np.stack(runs))


def jackknife(runs: np.ndarray) -> np.ndarray:
    """Deviation (T, Dy) of an estimate, from those (folds, T, Dy) without one part of the data.

    With K of them, at distances d from their middle: sqrt((K - 1) mean d^2). One that has run away,
    by far or altogether, says little of the others: up to each row it counts for twice as far as
    the typical one, or not at all.
    """
    there = runs[np.isfinite(runs).all(axis=(1, 2))]
    if len(there) < 2:
        return np.zeros(runs.shape[1:])
    off = there - np.median(there, axis=0)
    rows = np.arange(1, off.shape[1] + 1)
    far = np.sqrt(np.cumsum(np.mean(off**2, axis=2), axis=1) / rows)  # up to each row, (folds, T)
    limit = _FARTHER * np.median(far, axis=0)
    counts = np.where(far > limit, limit / np.where(far > limit, far, 1.0), 1.0)
    return np.sqrt((len(there) - 1) * np.mean((off * counts[:, :, None]) ** 2, axis=0))
