"""After the race between levels: would a slower rate, more states or larger sizes serve better?

Each of them is trained at small cost and takes the place of what was best so far only if errors on
held-out stretches fall. So what a fit costs follows what it gains.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from prssm.data.record import Record
from prssm.data.resample import at_all_rows, thinned, thinned_inputs
from prssm.data.splits import Stretch
from prssm.data.windows import usual_length
from prssm.linear.system import LinearSystem
from prssm.models.prssm.config import LEAST_TO_GROW, PRSSMConfig
from prssm.models.prssm.fitting.fit import Fitting
from prssm.models.prssm.fitting.held_out import Fold, folds_of
from prssm.models.prssm.fitting.prepare import cut_for, prepared, starts_for, window_of
from prssm.models.prssm.levels import LEVELS, Level
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.selection import NEAR, Choice, choose
from prssm.models.prssm.starts.budgeted import BudgetedChoice
from prssm.models.prssm.starts.start import MOST_STATES, Starts
from prssm.models.prssm.trained import Candidate, HeldOut, mixed
from prssm.prediction.correlation import are_white
from prssm.training.distributed import processes, store
from prssm.training.session import Session

# Steps from which on a slower rate is tried, and one held-out stretch says enough.
_MANY = 4000
# Share of the held-out error that a stage must save: of few data, whose errors say less, more.
_GAIN = 0.02
_GAIN_OF_MANY = 0.005
_SURELY = 2.0  # standard errors by which larger models must err less than a linear one
_WORSE = 0.02  # by which it may err more over the training records
# A mode of the linear model is slow from so many steps on; a slower rate gives it so many.
_SLOW_STEPS = 200
_WANTED_STEPS = 50
_LEAST_SHARE = 0.1  # of the output's deviation, that a slow mode must make
_LEAST_KEPT = 1000  # steps that a slower rate leaves
_RESTARTS = 4
_FOLD_RESTARTS = 2
_ROWS = 6000  # of a held-out stretch, at most
_SAMPLES = 100
LEAST_SECONDS = 3.0  # of a budget, that anything needs


@dataclass(frozen=True, eq=False)
class Contender:
    """A trained fit, what would be kept of it, and the rows that one of its steps takes."""

    fitting: Fitting
    starts: Starts
    choice: Choice
    stride: int

    @property
    def folds(self) -> list[Fold]:
        groups = self.fitting.groups
        return list({id(group.fold): group.fold for group in groups if group.fold}.values())

    @property
    def steps(self) -> int:
        return sum(map(len, self.fitting.records))

    @property
    def best(self) -> Candidate | None:
        """The level that is trained and errs least."""
        candidates = [one for one in self.fitting.trained.candidates() if one.level.trained]
        return min(candidates, key=lambda one: one.held_out.typical, default=None)

    def judges(self) -> list[Fold]:
        """The folds that judge a change: three of them, or of long data the one in the middle."""
        folds = self.folds
        if is_long(self):
            return folds[len(folds) // 2 :][:1]
        return folds[:: max(1, len(folds) // 3)][:3]

    def training_error(self) -> float:
        """Over whole training records."""
        return self.fitting.trained.training_error(self.choice.mixture)

    def leaves_only_noise(self) -> bool:
        """Whether errors over whole training records, of many rows, are like a sensor's noise."""
        if not is_long(self) or not self.fitting.records:
            return False
        return are_white(self.fitting.trained.over_records(self.choice.mixture).errors)

    def held_out(self, folds: Sequence[Fold]) -> HeldOut:
        """The errors of its choice where these folds' models had not been trained."""
        trained = self.fitting.trained
        parts = [trained.held_out(one.level, one.round, folds) for one in self.choice.candidates]
        return mixed(parts)

    def held_out_at_all_rows(
        self, records: Sequence[Record], folds: Sequence[Fold] | None = None
    ) -> HeldOut:
        """The same at every row of the records, which its own rate may leave out.

        Of all folds, where none are named.
        """
        found: list[np.ndarray] = []
        for fold in self.folds if folds is None else folds:
            mixtures = self._mixtures(fold)
            for stretch in fold.stretches:
                part = _rows(records, stretch, self.stride)
                runs = [self._run(mixture, part) for mixture in mixtures]
                found.append(part.y - np.mean(runs, axis=0))
        return HeldOut(found, [np.ones_like(errors) for errors in found])

    def _mixtures(self, fold: Fold) -> list[Mixture]:
        trained = self.fitting.trained
        return [
            trained.mixture(one.round, trained.members(group, one.round))
            for one in self.choice.candidates
            for group in self.fitting.groups
            if group.level is one.level and group.fold is fold
        ]

    def _run(self, mixture: Mixture, part: Record) -> np.ndarray:
        """Outputs of a free run at every row."""
        y_start = part.y[:: self.stride][: self.fitting.window]
        u = thinned_inputs(part.u, self.stride)
        mean = mixture.run(u, y_start, _SAMPLES, self.fitting.config.seed, quick=True).mean
        return at_all_rows(np.where(np.isfinite(mean), mean, np.inf), self.stride, len(part))


def _rows(records: Sequence[Record], stretch: Stretch, stride: int) -> Record:
    begin = stretch.begin * stride
    end = min(stretch.end * stride, begin + _ROWS)
    return records[stretch.record][begin:end]


class Contest:
    """What may take the place of a race's winner, one after the other.

    `records` have all rows. `tell` is called with every contender that is better than those before.
    """

    def __init__(
        self,
        config: PRSSMConfig,
        records: Sequence[Record],
        session: Session,
        fingerprint: str,
        tell: Callable[[Contender], None],
    ) -> None:
        self.config = config
        self.records = records
        self.session = session
        self.fingerprint = fingerprint
        self.tell = tell
        self._beside: list[Path | None] = []
        self.quiet = False  # whether what is better is not told yet

    def run(self, first: Contender) -> Contender:
        """The best of all; `first` where nothing is better."""
        best = self._slower(first)
        best = self._more_states(best)
        return best

    def phase(self, name: str, label: str) -> tuple[Session, str] | None:
        """How one more training is watched and saved; none where no time is left.

        `name` is that of its checkpoint, `label` is for the watcher.
        """
        left = self.session.seconds_left()
        if left is not None and processes.from_leader(np.asarray(left)) < LEAST_SECONDS:
            return None
        beside = phase_checkpoint(self.session.checkpoint, name)
        self._beside.append(beside)
        return replace(self.session, checkpoint=beside, label=label), f"{self.fingerprint}-{name}"

    def finish(self) -> None:
        """Remove what was only needed to go on with."""
        for beside in self._beside:
            if beside is not None and store.leads():
                beside.unlink(missing_ok=True)

    def _slower(self, now: Contender) -> Contender:
        """At a rate at which the slowest motion of the linear model fits into sub-trajectories."""
        stride = slower_stride(now) if self.config.stride is None else 1
        stride = int(agreed(stride))
        phase = self.phase("rate", "training at a slower rate")
        if stride == 1 or phase is None:
            return now
        rows = now.stride * stride
        records = [thinned(record, rows) for record in self.records]
        config = self.config.replace(restarts=_RESTARTS)
        choice = BudgetedChoice(phase[0], config)
        self._beside.append(choice.path)
        starts = starts_for(config, records, choice, choice.hurry())
        cut = cut_for(starts.config, records)
        folds = folds_of(cut, records, len(now.folds), window=window_of(starts.config))
        levels = _with_linear(now)
        other = self._trained(
            starts,
            prepared(starts, cut, levels=levels, folds=folds, records=records),
            phase,
            stride=rows,
        )
        before = now.held_out_at_all_rows(self.records).typical
        after = other.held_out_at_all_rows(self.records).typical
        return self.better(now, other, gain=1.0 - after / before)

    def _more_states(self, now: Contender) -> Contender:
        """With twice as many states, at the level that did best."""
        best = now.best
        config = now.fitting.config
        states = min(MOST_STATES, 2 * config.latent_dim)
        fixed = self.config.latent_dim is not None or states == config.latent_dim
        if fixed or best is None or now.steps < LEAST_TO_GROW or not now.folds:
            return now
        phase = self.phase("states", "training with more states")
        if phase is None:
            return now
        wider = config.replace(latent_dim=states, restarts=_RESTARTS, fold_restarts=_FOLD_RESTARTS)
        starts = now.starts.with_config(wider)
        records = now.fitting.records
        folds = now.judges()
        other = self._trained(
            starts,
            prepared(starts, now.fitting.cut, levels=[best.level], folds=folds, records=records),
            phase,
            stride=now.stride,
        )
        return self.better(now, other, gain=gain_of_growth(now, other, folds))

    def _trained(
        self, starts: Starts, fitting: Fitting, phase: tuple[Session, str], stride: int
    ) -> Contender:
        session, fingerprint = phase
        fitting.train(session, fingerprint, lambda trained: None)
        return Contender(fitting, starts, choose(fitting.trained), stride)

    def better(self, now: Contender, other: Contender, gain: float) -> Contender:
        """The other one, if it saves enough of the held-out error and stays with the data."""
        limit = (1.0 + _WORSE) * now.training_error()
        worse = gain < needed_gain(now) or other.training_error() > limit
        if as_the_leader_says(worse):
            return now
        known = now.choice.held_out | other.choice.held_out
        other = replace(other, choice=other.choice._replace(held_out=known))
        if not self.quiet:
            self.tell(other)
        return other

    def gain(self, now: Contender, other: Contender) -> float:
        """The share of its held-out error that the other one saves, at least.

        Of the typical error, and of the root mean square: a typical error forgives a stretch in
        which a model runs away.
        """
        before, after = self._both_held_out(now, other)
        return 1.0 - max(after.typical / before.typical, after.rmse / before.rmse)

    def surely_less(self, now: Contender, other: Contender, errors: float) -> bool:
        """Whether the other one errs less in every held-out stretch, or by so many standard errors.

        Of the logarithm of each stretch's error.
        """
        both = self._both_held_out(now, other)
        before, after = (np.log(part.of_stretches()) for part in both)
        return is_surely_negative(after - before, errors)

    def _both_held_out(self, now: Contender, other: Contender) -> tuple[HeldOut, HeldOut]:
        """Over the same stretches."""
        if now.stride == other.stride:
            folds = [fold for fold in now.folds if fold in other.folds]
            return now.held_out(folds), other.held_out(folds)
        both = [now.folds, other.folds]
        if len(both[0]) != len(both[1]):  # one was judged by the fold in the middle alone
            both = [folds[len(folds) // 2 :][:1] for folds in both]
        before = now.held_out_at_all_rows(self.records, both[0])
        return before, other.held_out_at_all_rows(self.records, both[1])


def agreed(value: float) -> float:
    """The first process's number where several fit together: others might round differently."""
    return float(processes.from_leader(np.asarray(value), math.inf))


def as_the_leader_says(yes: bool) -> bool:
    """The same of a decision."""
    return bool(agreed(yes))


def is_surely_negative(values: np.ndarray, errors: float) -> bool:
    """Whether all are below zero, or their mean by so many of its standard errors.

    One value says nothing.
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return False
    return bool(np.all(values < 0.0)) or is_negative_by(values, errors)


def is_negative_by(values: np.ndarray, errors: float) -> bool:
    """Whether the mean of several values is below zero by so many of its standard errors."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return bool(values.mean() < -errors * error)


def gain_of_growth(now: Contender, other: Contender, folds: Sequence[Fold]) -> float:
    """The share of its held-out error on these folds that the other one saves.

    0 where that may be chance and a linear model of few data would give way: three stretches on
    which all err less by a little are no reason.
    """
    before = now.held_out(folds)
    after = other.held_out(folds)
    if keeps_linear(now) and not is_long(now):
        saved = np.log(after.of_stretches()) - np.log(before.of_stretches())
        if len(saved) < 2 or not is_negative_by(saved, _SURELY):
            return 0.0
    return 1.0 - after.typical / before.typical


def keeps_linear(now: Contender) -> bool:
    """Whether the linear level is among what would be kept."""
    return any(one.level is LEVELS["linear"] for one in now.choice.candidates)


def is_long(now: Contender) -> bool:
    """Whether one held-out stretch says enough."""
    return now.steps >= _MANY


def least_gain(now: Contender) -> float:
    """Share of the held-out error that a stage of growth must save to be followed by another."""
    return _GAIN_OF_MANY if is_long(now) else _GAIN


def needed_gain(now: Contender) -> float:
    """Share of the held-out error that a change must save to be taken.

    Few data say little: where the linear model is among the best, what saves no more than levels
    differ by chance does not take its place.
    """
    return NEAR if keeps_linear(now) and not is_long(now) else least_gain(now)


def phase_checkpoint(checkpoint: Path | None, name: str) -> Path | None:
    """Each phase after the race has a checkpoint of its own, beside that of the race."""
    return checkpoint and checkpoint.with_name(f"{checkpoint.name}.{name}")


def _with_linear(now: Contender) -> list[Level]:
    """The linear level and the best one that is trained."""
    best = now.best
    names = ["linear", "free"] if best is None else ["linear", best.level.name]
    return [level for name, level in LEVELS.items() if name in names]


def slower_stride(now: Contender) -> int:
    """Steps of the present rate that one of a slower rate would take; 1 where nothing is slow."""
    steps = now.steps
    most = min(steps // _LEAST_KEPT, usual_length(now.fitting.records) // 100)
    if steps < _MANY or most < 2:
        return 1
    slowest = slow_mode(now.starts.linear[0].system, now.starts.records)
    return min(most, round(slowest / _WANTED_STEPS)) if slowest > _SLOW_STEPS else 1


def slow_mode(system: LinearSystem, records: Sequence[Record]) -> float:
    """The largest time constant, in steps, of the modes that the outputs show; 0 without any."""
    values, vectors = np.linalg.eig(system.A)
    inverse = np.linalg.inv(vectors)
    longest = 0.0
    for index in np.argsort(-np.abs(values)):
        mode = np.outer(vectors[:, index], inverse[index])
        parts = [(system.states(record) @ mode.T @ system.C.T).real for record in records]
        share = np.max(np.concatenate(parts).std(axis=0))
        if share >= _LEAST_SHARE:
            longest = max(longest, float(-1.0 / np.log(min(np.abs(values[index]), 1.0 - 1e-9))))
    return longest
