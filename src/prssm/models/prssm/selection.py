"""What is kept of all that was trained: a level by its held-out errors, its members by their ELBO,
a calibrated band.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.order import as_good
from prssm.models.prssm.calibration import Calibration
from prssm.models.prssm.elbo import Draws, StateSpaceModel
from prssm.models.prssm.levels import Group, Level
from prssm.models.prssm.mixture import Mixture
from prssm.training.log import TrainingLog

# levels whose held-out errors are this close to the smallest, relative to it, are mixed
NEAR = 0.05
# trajectories of a free run over a held-out stretch, and rows of it at most
_SAMPLES = 200
_STRETCH = 3000
# times the error of a constant: a final model that errs more on what it was trained on has run away
_LOST = 1.5
# of the longest record, over which that is looked at, and trajectories
_ROWS = 20_000
_FEW = 50


class HeldOut(NamedTuple):
    """Errors (rows, Dy) of one level's free runs over all held-out stretches, and the deviations of
    their bands.
    """

    errors: list[np.ndarray]
    stds: list[np.ndarray]

    @property
    def rmse(self) -> float:
        error = np.concatenate(self.errors) if self.errors else np.full(1, np.inf)
        return float(np.sqrt(np.mean(error[~np.isnan(error)] ** 2)))

    @property
    def typical(self) -> float:
        """Geometric mean over the stretches of their root mean square errors; infinite without any.

        The largest errors come from stretches whose like a fold's model has never seen. The final
        model has seen them, so they should not decide alone.
        """
        with_any = [error[~np.isnan(error)] for error in self.errors if not np.isnan(error).all()]
        squares = [max(float(np.mean(error**2)), np.finfo(float).tiny) for error in with_any]
        return float(np.exp(0.5 * np.mean(np.log(squares)))) if squares else np.inf

    @property
    def inside(self) -> float:
        """Share of the measured values inside two deviations."""
        error = np.concatenate(self.errors)
        return float(np.mean((np.abs(error) < 2.0 * np.concatenate(self.stds))[~np.isnan(error)]))


def mixed(parts: Sequence[HeldOut]) -> HeldOut:
    """The same stretches predicted by a mixture of levels with equal weights: the law of total
    variance.
    """
    errors = [np.mean(runs, axis=0) for runs in zip(*(part.errors for part in parts), strict=True)]
    stds = [
        np.sqrt(np.mean(np.square(stds), axis=0) + np.var(runs, axis=0))
        for runs, stds in zip(
            zip(*(part.errors for part in parts), strict=True),
            zip(*(part.stds for part in parts), strict=True),
            strict=True,
        )
    ]
    return HeldOut(errors, stds)


class Choice(NamedTuple):
    """The name of the level or levels, held-out scores of all levels and of the choice, where there
    are any, the band's factor, the members' indices, and whether they stay with the longest
    training record.
    """

    level: str
    held_out: dict[str, dict[str, float]]
    calibration: Calibration
    members: np.ndarray
    steady: bool


@dataclass(frozen=True, eq=False)
class Trained:
    """All restarts with what is needed to run them."""

    models: StateSpaceModel  # arrays lead with the restarts
    log: TrainingLog
    groups: Sequence[Group]
    most_members: int
    margin: float  # of the ELBO, by which a member may be worse than the best
    window: int
    draws: Draws
    # the training data, where final models are asked to stay with them
    records: Sequence[Record] = ()

    def members(self, group: Group) -> np.ndarray:
        # Linear models of all orders are kept: the ELBO would prefer the larger one (see `levels`).
        margin = np.inf if group.level.name == "linear" else self.margin
        found = self.log.best(self.most_members, group.restarts, margin)
        if not len(found):
            raise TrainingError(
                f"all {group.count} restarts of level {group.level.name!r} diverged; try a smaller "
                f"learning_rate, a shorter horizon, more restarts or fewer latent dimensions"
            )
        return found

    def final(self, level: Level) -> np.ndarray:
        """Members of this level that were trained on all data."""
        return self.members(
            next(group for group in self.groups if group.level == level and group.fold is None)
        )

    def steady(self, members: np.ndarray, seed: int) -> np.ndarray:
        """Those that do not run away over the longest record.

        Sub-trajectories and held-out stretches may be shorter than that, so neither the ELBO nor
        held-out errors need to know.
        """
        if not self.records:
            return members
        longest = max(self.records, key=len)[:_ROWS]
        limit = _LOST * np.nanstd(np.concatenate([record.y for record in self.records]), axis=0)
        runs = [
            self.mixture(members[[at]]).run(longest.u, longest.y[: self.window], _FEW, seed).mean
            for at in range(len(members))
        ]
        return members[[_stays(longest.y, run, limit) for run in runs]]

    def mixture(self, members: np.ndarray) -> Mixture:
        return Mixture(
            jax.tree.map(lambda array: array[members], self.models), self.window, self.draws
        )

    def held_out(self, level: Level, seed: int) -> HeldOut:
        """Free runs over the stretches that the members of each fold have not seen."""
        errors = []
        stds = []
        for group in self.groups:
            if group.level != level or group.fold is None:
                continue
            mixture = self.mixture(self.members(group))
            for record in (whole[:_STRETCH] for whole in group.fold.held_out_records):
                run = mixture.run(record.u, record.y[: self.window], _SAMPLES, seed)
                # A run that is lost is no missing measurement: its error has no limit.
                errors.append(record.y - np.where(np.isfinite(run.mean), run.mean, np.inf))
                stds.append(run.std)
        return HeldOut(errors, stds)


def choose(trained: Trained, levels: Sequence[Level], seed: int) -> Choice:
    """A mixture of all levels that are as good as the best on held-out data.

    A level that is worse alone stays out even where the mixture with it errs less: there all models
    of the folds err much, and a mixture of poor models hides that the final ones, which have seen
    all data, are better. A level whose final models have all run away is no candidate, unless those
    of all levels have. Without held-out data: the second of several levels, which stays near its
    linear start.
    """
    held_out = [trained.held_out(level, seed) for level in levels]
    members = [trained.steady(trained.final(level), seed) for level in levels]
    steady = any(len(found) for found in members)
    errors = [
        result.typical if len(found) or not steady else np.inf
        for result, found in zip(held_out, members, strict=True)
    ]
    chosen = as_good(errors, NEAR) or [min(1, len(levels) - 1)]
    name = "+".join(levels[index].name for index in chosen)
    result = mixed([held_out[index] for index in chosen])
    scored = [(level.name, found) for level, found in zip(levels, held_out, strict=True)] + [
        (name, result)
    ]
    scores = {
        name: {"typical": found.typical, "rmse": found.rmse, "inside": found.inside}
        for name, found in scored
        if np.isfinite(found.rmse)
    }
    calibration = (
        Calibration.fit(*result)
        if result.errors
        else Calibration.none(trained.models.log_output_std.shape[1])
    )
    kept = [
        members[index] if len(members[index]) else trained.final(levels[index]) for index in chosen
    ]
    return Choice(
        name,
        scores,
        calibration,
        members=_with_equal_weights(kept),
        steady=all(len(members[index]) for index in chosen),
    )


def _stays(y: np.ndarray, run: np.ndarray, limit: np.ndarray) -> bool:
    """Whether each output's root mean square error is below its limit; one that was never measured
    says nothing.
    """
    # whose square is finite
    distance = np.minimum(np.abs(y - np.where(np.isfinite(run), run, np.inf)), 1e100)
    error = np.where(np.isnan(y), 0.0, distance)
    return bool(np.all(np.sum(error**2, axis=0) <= limit**2 * np.sum(~np.isnan(y), axis=0)))


def _with_equal_weights(levels: Sequence[np.ndarray]) -> np.ndarray:
    """Members of all levels, the most complex one's best first. A level with fewer members repeats
    them.
    """
    most = max(len(members) for members in levels)
    return np.concatenate([np.resize(members, most) for members in reversed(levels)])
