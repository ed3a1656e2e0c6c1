"""From records to all trained restarts.

Starts of every level, the race between them, and what is known after it.

In compiled code restarts race in rounds (`training.race`); where JAX trains (odd kernels, many
devices, streams), all of them run to the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data.record import Record
from prssm.data.windows import Windows, sliding, usual_length
from prssm.foundation import storage
from prssm.models.prssm.compiled import Rows, why_not
from prssm.models.prssm.config import ResolvedConfig
from prssm.models.prssm.elbo import (
    Anchor,
    Objective,
    Own,
    Shown,
    StateSpaceModel,
    TrainingData,
)
from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.fitting.referee import Referee
from prssm.models.prssm.fitting.trainers import CompiledTrainer
from prssm.models.prssm.trained import Stage, Trained
from prssm.training.feed import Feed
from prssm.training.log import TrainingLog
from prssm.training.optimise import PerRestart, optimise_all
from prssm.training.race import Round, Standing, race
from prssm.training.schedule import Schedule
from prssm.training.session import Session

# ELBO for each recorded step by which a member of the mixture may be worse than the best.
_MARGIN = 0.2
# Steps from which on a second round has longer sub-trajectories.
_SOME = 1000
_TIMES = 4  # records usually have at least so many times a sub-trajectory's rows


class Fitting:
    """One fit: `trained` holds what is known so far, `train` does the work.

    `tell` is called with `trained` after the starts are made and after every round.
    """

    def __init__(
        self,
        config: ResolvedConfig,
        cut: Windows,
        groups: Sequence[Group],
        *,
        starts: StateSpaceModel,
        window: int,
        records: Sequence[Record] = (),
    ) -> None:
        """`records` are the data in memory, if they are."""
        self.records = records
        self.config = config
        self.cut = cut
        self.groups = groups
        self.starts = starts
        self.window = window
        rows = Rows.of(starts)
        self.trained = Trained(
            rows,
            groups,
            most_members=config.members,
            margin=_MARGIN * cut.steps,
            window=window,
            draws=config.draws,
            engine=config.engine,
            seed=config.seed,
            records=records,
        )
        theta = rows.rows(starts)
        trained = [group.restarts for group in groups if group.level.trained]
        self.racers = np.concatenate([np.zeros(0, dtype=int), *trained])
        objective = np.zeros(len(theta))
        objective[self.racers] = np.nan
        self.trained.add(Stage(theta, objective), np.zeros(0, dtype=int))

    def train(
        self,
        session: Session,
        fingerprint: str,
        tell: Callable[[Trained], None],
        *,
        judging: float = 0.0,
    ) -> TrainingLog | None:
        """All levels that are trained; None where there is none.

        `judging` are the seconds that it may take to judge and to tell, as far as that is known.
        """
        if not len(self.racers):
            return None
        referee = Referee(self.trained, self.racers)
        if session.mesh is None and self._compiled() and not _goes_on_in_jax(session):
            return self._race(session, fingerprint, referee, tell=tell, judging=judging)
        standing, log = self._all_to_the_end(session, fingerprint)
        referee.follow(standing)
        return log

    def _compiled(self) -> bool:
        config = self.config
        kind = config.engine.partition("-")[0]
        known = kind in ("auto", "native") and config.likelihood == "expected"
        return known and why_not(self.starts) is None

    def _race(
        self,
        session: Session,
        fingerprint: str,
        referee: Referee,
        *,
        tell: Callable[[Trained], None],
        judging: float,
    ) -> TrainingLog:
        def told(standing: Standing) -> np.ndarray:
            going_on = referee(standing)
            tell(self.trained)
            return going_on

        standing, log = race(
            self.trained.stages[0].theta[self.racers],
            self.rounds(),
            referee=told,
            session=session,
            fingerprint=fingerprint,
            fewer=referee.fewer,
            judging=judging,
        )
        referee.follow(standing)
        return log

    def rounds(self) -> list[Round]:
        """One round for one level.

        Where levels compete, a short one for all of them, then longer ones for the best, with
        longer sub-trajectories where the data allow.
        """
        whole = self.schedule()
        trainer = self._trainer(self.cut)
        competing = len(self.trained.levels) > 1 and any(group.fold for group in self.groups)
        share = self.config.first_round
        if not competing or share >= 1.0:
            return [Round(trainer, whole)]
        second = self._trainer(self._later_cut())
        return [
            Round(trainer, whole, end=share),
            Round(second, whole, begin=share, fresh=False),
        ]

    def schedule(self) -> Schedule:
        """How long and how fast all that trains does so; override for what goes on."""
        return schedule_of(self.config, self.cut.steps)

    def _later_cut(self) -> Windows:
        """The windows of the second round: longer ones where there are data enough."""
        horizon = 2 * self.cut.horizon
        if not self.config.grow or self.cut.steps < _SOME or not self.records:
            return self.cut
        if usual_length(self.records) < _TIMES * horizon:
            return self.cut
        longer = sliding(self.records, horizon)
        return longer if self.shows(longer) else self.cut

    def shows(self, cut: Windows) -> bool:
        """Whether every fold leaves windows of this cut to train on."""
        return all(self._shown(cut).values())

    def _trainer(self, cut: Windows) -> CompiledTrainer:
        shown = {key: part for key, part in self._shown(cut).items() if part is not None}
        return CompiledTrainer(
            self.config, cut, self.groups, starts=self.starts, window=self.window, shown=shown
        ).only(self.racers)

    def _shown(self, cut: Windows) -> dict[int, Shown | None]:
        """What each fold, by its id, shows of some windows."""
        folds = {id(group.fold): group.fold for group in self.groups if group.fold}
        return {key: fold.shown_in(cut, self.records, self.window) for key, fold in folds.items()}

    def _all_to_the_end(
        self,
        session: Session,
        fingerprint: str,
        data: PerRestart | None = None,
        drawn: bool = False,
    ) -> tuple[Standing, TrainingLog]:
        config = self.config
        objective = Objective(
            self.cut.horizon,
            None if config.scheme == "full" else config.batch,
            config.samples,
            window=config.recognition_window,
            engine=config.engine,
            draws=config.draws,
            likelihood=config.likelihood,
            mesh=session.mesh,
            drawn=drawn,
        )
        everybody = jax.tree.map(lambda leaf: jnp.asarray(leaf)[self.racers], self.starts)
        models, log = optimise_all(
            objective,
            everybody,
            data or self.data(),
            schedule=self.schedule(),
            key=jax.random.key(config.seed),
            session=session,
            fingerprint=fingerprint,
        )
        active = np.ones(len(self.racers), dtype=bool)
        theta = self.trained.rows.rows(models)
        return Standing(theta[None], log.final[None], active[None]), log

    def train_stream(self, session: Session, fingerprint: str, feed: Feed) -> TrainingLog | None:
        """The same with windows that are read from disk."""
        if not len(self.racers):
            return None
        data = PerRestart(feed, self.data().own)
        standing, log = self._all_to_the_end(session, fingerprint, data, drawn=True)
        Referee(self.trained, self.racers).follow(standing)
        return replace(log, waited=feed.waited)

    def data(self) -> PerRestart:
        """The data, what each restart is shown of them, and what it costs to leave its start."""
        everything = Fold.nothing_held_out(self.cut).shown
        of_folds = self._shown(self.cut)
        each = [group for group in self.groups if group.level.trained for _ in range(group.count)]
        shown = jax.tree.map(
            lambda *leaves: jnp.stack(leaves),
            *(of_folds.get(id(group.fold), everything) for group in each),
        )
        everybody = jax.tree.map(lambda leaf: jnp.asarray(leaf)[self.racers], self.starts)
        levels = [group.level for group in each]
        precisions = [level.anchor_precision(self.config.prior_std) for level in levels]
        own = Own(
            shown,
            Anchor.of(everybody),
            jnp.asarray([level.gp_weight for level in levels]),
            anchor_precision=jnp.asarray(precisions),
            memory_weight=jnp.asarray([level.memory_weight for level in levels]),
        )
        return PerRestart(TrainingData.of(self.cut), own)


def _goes_on_in_jax(session: Session) -> bool:
    """Whether the checkpoint to go on with was written where JAX trains, as on many devices."""
    if not session.resume or session.checkpoint is None or not session.checkpoint.is_file():
        return False
    _, arrays = storage.read(session.checkpoint, "checkpoint")
    return "['theta']" not in arrays


def schedule_of(config: ResolvedConfig, steps: int) -> Schedule:
    """The options' schedule for data of so many steps."""
    return Schedule(
        config.iterations,
        config.learning_rate,
        config.final_learning_rate,
        ramp=round(config.kl_warmup * config.iterations),
        clip=config.gradient_clip * steps,
    )
