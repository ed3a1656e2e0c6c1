"""All trained restarts with what is needed to run and to judge them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.dynamics.engines.choice import Engine
from prssm.foundation.errors import TrainingError
from prssm.models.prssm.compiled import Rows
from prssm.models.prssm.elbo import Draws
from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.levels import Level
from prssm.models.prssm.mixture import Mixture

# Trajectories of a free run over a held-out stretch, and rows of it at most.
_SAMPLES = 100
_STRETCH = 3000
# Times the error of a constant: a final model that errs more on its own training data is lost.
_LOST = 1.5
# Rows of the longest records over which that is looked at, and trajectories.
_ROWS = 20_000
_FEW = 50
# Rows that a final model must run at least without running away.
_LONG = 500


class HeldOut(NamedTuple):
    """Free runs over all held-out stretches.

    Errors (rows, Dy) of each, and the deviations of their bands.
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
        each = self.of_stretches()
        return float(np.exp(np.mean(np.log(each)))) if len(each) else np.inf

    def of_stretches(self) -> np.ndarray:
        """Root mean square error of each stretch in which anything was measured."""
        with_any = [error[~np.isnan(error)] for error in self.errors if not np.isnan(error).all()]
        squares = [max(float(np.mean(error**2)), np.finfo(float).tiny) for error in with_any]
        return np.sqrt(squares)

    @property
    def inside(self) -> float:
        """Share of the measured values inside two deviations."""
        error = np.concatenate(self.errors)
        return float(np.mean((np.abs(error) < 2.0 * np.concatenate(self.stds))[~np.isnan(error)]))

    def scores(self) -> dict[str, float]:
        """For a report and the model file."""
        return {"typical": self.typical, "rmse": self.rmse, "inside": self.inside}


def mixed(parts: Sequence[HeldOut]) -> HeldOut:
    """The same stretches predicted by a mixture of levels with equal weights.

    The law of total variance.
    """
    runs = list(zip(*(part.errors for part in parts), strict=True))
    bands = list(zip(*(part.stds for part in parts), strict=True))
    errors = [np.mean(run, axis=0) for run in runs]
    stds = [
        np.sqrt(np.mean(np.square(band), axis=0) + np.var(run, axis=0))
        for run, band in zip(runs, bands, strict=True)
    ]
    return HeldOut(errors, stds)


class Stage(NamedTuple):
    """All restarts at the end of a round.

    Parameters (restarts, size) and ELBOs, NaN where one was lost.
    """

    theta: np.ndarray
    objective: np.ndarray


class Candidate(NamedTuple):
    """A level as it was after a round.

    It knows how its folds' models did where they had not been trained.
    """

    level: Level
    round: int
    held_out: HeldOut


class Kept(NamedTuple):
    """Restarts as they were after a round."""

    round: int
    members: np.ndarray


@dataclass(frozen=True, eq=False)
class Trained:
    """All restarts with what is needed to run and to judge them: `PRSSM.restarts_` after a fit.

    `stages` holds them after each round of training. `held_out(level, round)` runs the models of
    every fold over what they have not seen; `mixture(round, members)` is a model to simulate with.
    """

    rows: Rows
    groups: Sequence[Group]
    most_members: int
    margin: float  # of the ELBO, by which a member may be worse than the best
    window: int
    draws: Draws
    engine: Engine
    seed: int
    # The training data, where final models are asked to stay with them.
    records: Sequence[Record] = ()
    stages: list[Stage] = field(default_factory=list)
    # In which rounds each restart was trained, (rounds, restarts).
    active: list[np.ndarray] = field(default_factory=list)
    _runs: dict[tuple[int, int], HeldOut] = field(default_factory=dict)
    _steady: dict[tuple[Level, int], np.ndarray] = field(default_factory=dict)

    @property
    def levels(self) -> list[Level]:
        return list(dict.fromkeys(group.level for group in self.groups))

    def add(self, stage: Stage, active: np.ndarray) -> None:
        """The restarts after one more round, of which those with these indices were trained."""
        self.stages.append(stage)
        self.active.append(active)

    def ranked(self, group: Group, number: int) -> np.ndarray:
        """The restarts of a group that are alive after a round, the best ELBO first."""
        objective = self.stages[number].objective
        found = group.restarts[np.isfinite(objective[group.restarts])]
        return found[np.argsort(-objective[found], kind="stable")]

    def members(self, group: Group, number: int) -> np.ndarray:
        """Those of a group that would be mixed after a round, best first."""
        found = self.ranked(group, number)[: self.most_members]
        if not len(found):
            raise TrainingError(
                f"all {group.count} restarts of level {group.level.name!r} diverged; try a smaller "
                "learning_rate, a shorter horizon, more restarts or fewer latent dimensions"
            )
        return self._near_the_first(found, number)

    def _near_the_first(self, found: np.ndarray, number: int) -> np.ndarray:
        """Those whose ELBO is not much worse than that of the first, which is the best."""
        elbo = self.stages[number].objective[found]
        return found[elbo >= elbo[:1] - self.margin] if len(found) else found

    def final(self, level: Level, number: int) -> np.ndarray:
        """Members of this level that were trained on all data."""
        return self.members(self._of(level)[0], number)

    def of_folds(self, level: Level, number: int) -> list[Kept]:
        """Members of this level for each fold, which were not shown its part of the data."""
        folds = [group for group in self._of(level) if group.fold is not None]
        return [Kept(number, self.members(group, number)) for group in folds]

    def _of(self, level: Level) -> list[Group]:
        return [group for group in self.groups if group.level is level]

    def mixture(self, number: int, members: np.ndarray) -> Mixture:
        """Some restarts as they were after a round."""
        return self.mixture_of([Kept(number, members)])

    def mixture_of(self, parts: Sequence[Kept]) -> Mixture:
        """Restarts of several rounds."""
        theta = np.concatenate([self.stages[part.round].theta[part.members] for part in parts])
        return Mixture(self.rows.models(theta), self.window, self.draws, engine=self.engine)

    def held_out(self, level: Level, number: int, folds: Collection[Fold] | None = None) -> HeldOut:
        """Free runs over the stretches that the members of each fold have not seen.

        `folds`: only of these; none: of all.
        """
        runs = [
            self._held_out(group, number)
            for group in self._of(level)
            if group.fold is not None and (folds is None or group.fold in folds)
        ]
        errors = [error for run in runs for error in run.errors]
        return HeldOut(errors, [std for run in runs for std in run.stds])

    def _held_out(self, group: Group, number: int) -> HeldOut:
        known = (int(group.restarts[0]), number)
        if known not in self._runs:
            assert group.fold is not None
            mixture = self.mixture(number, self.members(group, number))
            runs = [self._over(mixture, whole) for whole in group.fold.held_out_records]
            self._runs[known] = HeldOut([error for error, _ in runs], [std for _, std in runs])
        return self._runs[known]

    def seen(self, mixture: Mixture) -> HeldOut:
        """Free runs over the same stretches by a final model, which was trained on them."""
        folds = {id(group.fold): group.fold for group in self.groups if group.fold is not None}
        stretches = [whole for fold in folds.values() for whole in fold.held_out_records]
        runs = [self._over(mixture, whole) for whole in stretches]
        return HeldOut([error for error, _ in runs], [std for _, std in runs])

    def _over(self, mixture: Mixture, whole: Record) -> tuple[np.ndarray, np.ndarray]:
        """Errors and deviations of a free run over a held-out stretch."""
        return self._run(mixture, whole[:_STRETCH], _SAMPLES)

    def _run(self, mixture: Mixture, record: Record, samples: int) -> tuple[np.ndarray, np.ndarray]:
        y_start = record.y[: self.window]
        run = mixture.run(record.u, y_start, samples, self.seed, quick=True)
        # A run that is lost is no missing measurement: its error has no limit.
        return record.y - np.where(np.isfinite(run.mean), run.mean, np.inf), run.std

    def candidates(self) -> list[Candidate]:
        """Every level after every round in which it was trained; one that is not trained, once.

        One that has diverged, on all data or on what a fold shows, is none, unless all have.
        """
        found: list[tuple[Level, int]] = []
        for level in self.levels:
            mine = np.concatenate([group.restarts for group in self._of(level)])
            rounds = [
                number for number, active in enumerate(self.active) if np.isin(mine, active).any()
            ]
            found += [(level, number) for number in (rounds if level.trained else [0])]
        alive = [(level, number) for level, number in found if self._lives(level, number)]
        return [
            Candidate(level, number, self.held_out(level, number))
            for level, number in alive or found
        ]

    def _lives(self, level: Level, number: int) -> bool:
        return all(len(self.ranked(group, number)) for group in self._of(level))

    def steady(self, level: Level, number: int) -> np.ndarray:
        """Members of this level, trained on all data, that do not run away over the longest record.

        Sub-trajectories and held-out stretches may be shorter than that, so neither the ELBO nor
        held-out errors need to know. After a short record the run goes on under the same inputs
        again: who has a log of fifty rows will run its model for longer. Where one runs away the
        next best takes its place; none where all do.
        """
        if not self.records:
            return self.final(level, number)
        if (level, number) not in self._steady:
            self._steady[level, number] = self._found_steady(level, number)
        return self._steady[level, number]

    def _found_steady(self, level: Level, number: int) -> np.ndarray:
        longest = max(self.records, key=len)[:_ROWS]
        rows = len(longest)
        again = -(-_LONG // rows)
        u = np.tile(longest.u, (again, 1))
        y = np.concatenate([record.y for record in self.records])
        limit = _LOST * np.nanstd(y, axis=0)
        # nobody knows the outputs there: what integrates may drift as far for each time
        middle = np.tile(np.nanmean(y, axis=0), (len(u) - rows, 1))
        found: list[int] = []
        for restart in self.ranked(self._of(level)[0], number):
            mixture = self.mixture(number, np.array([restart]))
            run = mixture.run(u, longest.y[: self.window], _FEW, self.seed, quick=True)
            there = _stays(longest.y, run.mean[:rows], limit)
            if there and _stays(middle, run.mean[rows:], again * limit):
                found.append(int(restart))
            if len(found) == self.most_members:
                break
        return self._near_the_first(np.array(found, dtype=int), number)

    def training_error(self, mixture: Mixture) -> float:
        """Root mean square error of free runs over whole training records.

        Infinite where a run is lost, 0 without records.
        """
        return self.over_records(mixture).rmse if self.records else 0.0

    def over_records(self, mixture: Mixture) -> HeldOut:
        """Free runs over whole training records, the longest first, some thousands of rows."""
        left = _ROWS
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for record in sorted(self.records, key=len, reverse=True):
            part = record[: max(left, 2)]
            found.append(self._run(mixture, part, _FEW))
            left -= len(part)
            if left < len(part) // 2:
                break
        return HeldOut([error for error, _ in found], [std for _, std in found])


def _stays(y: np.ndarray, run: np.ndarray, limit: np.ndarray) -> bool:
    """Whether each output's root mean square error is below its limit.

    One that was never measured says nothing.
    """
    # Far away, but so that its square is finite.
    distance = np.minimum(np.abs(y - np.where(np.isfinite(run), run, np.inf)), 1e100)
    error = np.where(np.isnan(y), 0.0, distance)
    return bool(np.all(np.sum(error**2, axis=0) <= limit**2 * np.sum(~np.isnan(y), axis=0)))
