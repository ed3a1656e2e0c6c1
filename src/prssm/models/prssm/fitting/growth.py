"""Larger sizes for what did best: more inducing points, longer sub-trajectories, more iterations.

A small model is trained first, of every level. The best level then grows stage by stage: each stage
starts from what was learnt, and counts only if errors on held-out stretches fall. So sizes follow
the data, and the time that a fit takes follows what it gains.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from prssm.data.record import Record
from prssm.data.windows import sliding, usual_length
from prssm.gp.kernels import SquaredExponential
from prssm.gp.more_points import least_known, longer_factor
from prssm.gp.sparse import WhitenedInducing
from prssm.models.prssm.compiled import why_not
from prssm.models.prssm.config import LEAST_TO_GROW, ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.fitting.contest import (
    Contender,
    Contest,
    as_the_leader_says,
    gain_of_growth,
    least_gain,
)
from prssm.models.prssm.fitting.fit import Fitting
from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.selection import choose
from prssm.models.prssm.trained import Candidate
from prssm.training.schedule import Schedule

# Inducing points and the longest sub-trajectories of each stage.
_STAGES = ((20, 200), (40, 400), (64, 400), (64, 400))
_MOST_OF_A_RECORD = 0.5  # that a sub-trajectory has
# Times that every row is trained on in a stage, and bounds of the iterations that this makes.
_EPOCHS = 1000
_ITERATIONS = (1000, 8000)
_LEAST_ITERATIONS = 500
# Seconds of one core that all stages may take, by a rough count: a model's size must not depend on
# how busy the machine is.
_WORK = 20.0
_WORK_A_STEP = 0.02
_FAR = 1.5  # times the error of the best: a level that errs more does not grow
# Restarts that grow: on all data, and on what each fold shows.
_RESTARTS = 3
_FOLD_RESTARTS = 2
# Rows and trajectories of the run in which places for new points are looked for.
_ROWS = 2000
_TRAJECTORIES = 8


class Stage(NamedTuple):
    """Sizes of one stage."""

    inducing: int
    horizon: int
    iterations: int


def stages(config: ResolvedConfig, records: Sequence[Record], restarts: int) -> list[Stage]:
    """What these data may have, by the work that so many restarts make.

    None where there is too little of either.
    """
    steps = sum(map(len, records))
    usual = usual_length(records)
    found: list[Stage] = []
    if not config.grow or steps < LEAST_TO_GROW:
        return found
    left = _WORK + _WORK_A_STEP * steps
    for points, longest in _STAGES:
        horizon = max(config.horizon, min(longest, int(_MOST_OF_A_RECORD * usual)))
        inducing = max(points, config.inducing)
        cost = restarts * seconds(config.latent_dim, inducing, horizon)
        wanted = np.clip(_EPOCHS * steps / (config.batch * horizon), *_ITERATIONS)
        iterations = int(min(wanted, left / cost))
        if iterations < _LEAST_ITERATIONS:
            break
        left -= iterations * cost
        found.append(Stage(inducing, horizon, iterations))
    return found


def seconds(states: int, points: int, horizon: int) -> float:
    """About what one iteration of one restart takes on one core: the recursion, and factorising."""
    return 1e-3 * (1.1e-4 * states * points * horizon + 1e-5 * states * points**3)


class Grown(Fitting):
    """The race of one stage: one level, from what the stage before has learnt."""

    def schedule(self) -> Schedule:
        """Slower, since much is learnt, and with the regulariser from the first step on."""
        whole = super().schedule()
        rate = self.config.last_rate * whole.learning_rate
        return whole._replace(learning_rate=rate, ramp=0)


class Growth:
    """Stage by stage from a contender, as long as it pays: `run` gives the best.

    What grows is the trained level that errs least, also where a linear model errs less so far.
    """

    def __init__(self, contest: Contest, first: Contender) -> None:
        self.contest = contest
        self.best = first
        self.folds = first.judges()

    def run(self) -> Contender:
        """All stages that pay."""
        fitting = self.best.fitting
        level = self.best.best
        if level is None or not self._possible(level):
            return self.best
        restarts = _RESTARTS + _FOLD_RESTARTS * len(self.folds)
        error = fitting.trained.held_out(level.level, level.round, self.folds).typical
        for number, stage in enumerate(stages(fitting.config, fitting.records, restarts)):
            phase = self.contest.phase(f"stage{number + 1}", f"growing, stage {number + 1}")
            if phase is None:
                break
            session, fingerprint = phase
            fitting = _grown(fitting, level, stage, folds=self.folds)
            if not fitting.shows(fitting.cut):
                break
            fitting.train(session, fingerprint, lambda trained: None)
            level = fitting.trained.candidates()[-1]
            before = error
            error = level.held_out.typical
            self._judge(fitting)
            if as_the_leader_says(error > (1.0 - least_gain(self.best)) * before):
                break
        return self.best

    def _possible(self, level: Candidate) -> bool:
        """Whether there are data to judge by, a trainer that can, and hope."""
        models = self.best.choice.mixture.models
        known = isinstance(models.transition.gp.inducing, WhitenedInducing)
        near = level.held_out.typical <= _FAR * self.best.held_out(self.best.folds).typical
        return bool(self.folds) and near and known and why_not(models) is None

    def _judge(self, fitting: Fitting) -> None:
        """What has grown takes the place of the best if it errs less."""
        other = replace(self.best, fitting=fitting, choice=choose(fitting.trained))
        gain = gain_of_growth(self.best, other, self.folds)
        self.best = self.contest.better(self.best, other, gain=gain)


def _grown(now: Fitting, level: Candidate, stage: Stage, folds: Sequence[Fold]) -> Fitting:
    """The next stage, from the best restarts of this one on all data and on these folds."""
    groups: list[Group] = []
    chosen: list[np.ndarray] = []
    end = 0
    for group in now.groups:
        if group.level is not level.level or (group.fold and group.fold not in folds):
            continue
        most = _FOLD_RESTARTS if group.fold else _RESTARTS
        found = now.trained.ranked(group, level.round)[:most]
        groups.append(Group(group.level, group.fold, np.arange(end, end + len(found))))
        chosen.append(found)
        end += len(found)
    theta = now.trained.stages[level.round].theta[np.concatenate(chosen)]
    config = cast(ResolvedConfig, now.config.replace(**stage._asdict()))
    return Grown(
        config,
        sliding(now.records, stage.horizon),
        groups,
        starts=_with_points(now, theta, stage.inducing),
        window=now.window,
        records=now.records,
    )


def _with_points(now: Fitting, theta: np.ndarray, points: int) -> StateSpaceModel:
    """Restarts with more inducing points, where each of them knows least."""
    models = now.trained.rows.models(theta)
    gp = models.transition.gp
    assert isinstance(gp.inducing, WhitenedInducing)
    new = points - gp.zeta.shape[-2]
    if new <= 0:
        return models
    found = np.stack([_places(now, now.trained.rows.models(row[None]), new) for row in theta])
    inducing = WhitenedInducing(
        np.pad(gp.inducing.mean, ((0, 0), (0, 0), (0, new))),
        longer_factor(np.asarray(gp.inducing.factor), new, now.config.z_std),
    )
    grown = replace(gp, zeta=np.concatenate([gp.zeta, found], axis=2), inducing=inducing)
    return replace(models, transition=replace(models.transition, gp=grown))


def _places(now: Fitting, model: StateSpaceModel, count: int) -> np.ndarray:
    """Inducing inputs (Dx, count, Din) among the states and inputs that a model visits."""
    mixture = Mixture(model, now.window, now.config.draws, engine=now.config.engine)
    record = max(now.records, key=len)[:_ROWS]
    run = mixture.run(record.u, record.y[: now.window], _TRAJECTORIES, now.config.seed)
    assert run.state_mean is not None
    visited = np.concatenate([run.state_mean, record.u], axis=1)
    gp = model.transition.gp
    assert isinstance(gp.kernel, SquaredExponential)
    scales = np.exp(np.asarray(gp.kernel.log_lengthscale[0]))
    known = np.asarray(gp.zeta[0])
    return np.stack(
        [least_known(visited, known[d], scales[d], count=count) for d in range(len(known))]
    )
