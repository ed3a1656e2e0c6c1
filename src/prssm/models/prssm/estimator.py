"""PR-SSM (Doerr et al., ICML 2018): the estimator.

Its mathematics is in transition, rollout, recognition and elbo.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np

from prssm.data.record import Record
from prssm.data.resample import thinned
from prssm.data.scaling import Scaler
from prssm.data.stream.stream import Stream
from prssm.foundation.errors import OptionError, warn
from prssm.inference.noise_search import NoiseFactors
from prssm.inference.state_space import StateSpace
from prssm.models.estimator import Estimator, TrainingFacts
from prssm.models.functions.jax_model import JaxModel
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.band.witnesses import WITH_WITNESSES, Witnesses
from prssm.models.prssm.config import DEFAULT, PAPER, RESOLVED, PRSSMConfig, ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.choice import filter_members
from prssm.models.prssm.filtering.members import FilterMembers
from prssm.models.prssm.filtering.noises import trained_noises, untold_noises
from prssm.models.prssm.filtering.short_start import Firsts, short_start
from prssm.models.prssm.filtering.space import space_of
from prssm.models.prssm.filtering.usual_states import usual_from
from prssm.models.prssm.fitting.contest import LEAST_SECONDS, Contender, Contest
from prssm.models.prssm.fitting.final_choice import best_of_all
from prssm.models.prssm.fitting.findings import findings_of
from prssm.models.prssm.fitting.fit import Fitting
from prssm.models.prssm.fitting.held_out import always_shown, folds_of
from prssm.models.prssm.fitting.prepare import cut_for, prepared, starts_for, window_of
from prssm.models.prssm.fitting.streaming import StreamWindows, check_options
from prssm.models.prssm.functions import jax_model
from prssm.models.prssm.levels import AUTO, Linear, doubt_of, levels_of
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.selection import Choice, choose
from prssm.models.prssm.starts.budgeted import BudgetedChoice
from prssm.models.prssm.starts.start import Starts, blank_model
from prssm.models.prssm.stepping.mixture_stepper import MixtureStepper
from prssm.models.prssm.stepping.stepper import Stepper
from prssm.models.prssm.stored_members import arrays_of, models_from
from prssm.models.prssm.trained import Trained
from prssm.models.simulated import Simulated
from prssm.models.stored_arrays import check
from prssm.prediction.seen import Seen
from prssm.prediction.widening import widening
from prssm.training.checkpoint import Checkpoint, fingerprint
from prssm.training.log import TrainingLog
from prssm.training.pace import Pace
from prssm.training.session import Session

_USUAL = "usual"  # what the names of the states in training begin with, in a model file
KEPT_VALUES = 5_000_000  # drawn values of a run that are kept where nobody asked for samples


_VISITS = 20  # trajectories whose mean is the path of a run over a training record
_FOR_NETWORKS = 0.4  # share of a budget that the race between levels leaves to them
_FOR_JUDGING = 0.2  # share of a budget that the choice after a round is expected to take at most
# Share of a budget, and seconds at most, that all training leaves to the choice of filters.
_FOR_FILTERS = 0.2
_MOST_FOR_FILTERS = 8.0


class PRSSM(Estimator):
    """Probabilistic recurrent state-space model.

    GP dynamics in a latent state, trained through time on an ELBO.
    """

    name: ClassVar[str] = "prssm"
    Config = PRSSMConfig
    PRESETS: ClassVar = {"default": DEFAULT, "paper": PAPER}
    many_devices: ClassVar[bool] = True
    config: PRSSMConfig
    config_: ResolvedConfig  # with what the data decided filled in
    training_: TrainingLog
    mixture_: Mixture  # of the members that were kept
    level_: str = ""  # which of `levels` was kept
    straight_: bool = False  # the linear one, with errors like a sensor's noise
    witnesses_: Witnesses | None = None  # models of the folds: they widen bands
    filter_: FilterMembers  # members and noises of the filters; free runs keep the trained ones
    _first: Contender | None  # the winner of the race, while the contest goes on
    _last: Contender  # what was kept last, until its noises are known
    linear_order_: int | None = None  # of the best linear model; not in a model file
    always_shown_: int = 0  # records that are too short to be held out where others are
    rows_of_stream_: tuple[int, int] | None = None  # that were trained on, and all there are
    restarts_: Trained  # all trained restarts with their held-out runs; not in a model file

    @property
    def warmup(self) -> int:
        return self._window * self.stride_

    @property
    def _window(self) -> int:
        """Steps from which the first state is recognised."""
        return window_of(getattr(self, "config_", self.config))

    def _fit_scaled(self, records: list[Record], session: Session) -> None:
        """A race between levels, then a contest in which rate, states and sizes may change."""
        training = session.leaving(_FOR_FILTERS, most=_MOST_FOR_FILTERS)
        super()._fit_scaled(records, training)
        first = self._first
        del self._first
        contest = None if first is None else self._contest(first, records, training)
        self.filter_ = filter_members(self._last, self._window, Pace(session.seconds_left))
        del self._last
        if contest is not None:
            contest.finish()
        BudgetedChoice(session, self.config).forget()

    def _contest(self, first: Contender, records: list[Record], session: Session) -> Contest:
        config = self.config_
        key = fingerprint(config, vars(first.fitting.cut).values())
        contest = Contest(
            self.config, records, session, fingerprint=key, tell=lambda now: self._won(now, session)
        )
        best_of_all(contest, first, with_networks=self.config.neurons is None)
        return contest

    def _fit(self, records: list[Record], session: Session) -> None:
        session.progress.start(1, 0, "linear models")
        try:
            choice = BudgetedChoice(session, self.config)
            starts = starts_for(self.config, records, choice, choice.hurry())
            config = self.config_ = starts.config
            self._check_structure(records)
            cut = cut_for(config, records)
            folds = folds_of(cut, records, config.folds, window=self._window)
            self.always_shown_ = always_shown(folds, records)
            if config.folds and not folds:
                warn(
                    f"{records[0].name}: {cut.steps} rows are too few to hold some out: nothing "
                    "tells how far the model errs, and its band is a guess"
                )
            levels = levels_of(config.complexity)
            fitting = prepared(starts, cut, levels=levels, folds=folds, records=records)
            self.linear_order_ = starts.linear_order
            session.progress.update(1, {})
        finally:
            session.progress.stop()
        key = fingerprint(config, vars(cut).values())
        if session.resume:  # before a first model of other data replaces the one in a file
            Checkpoint(session.checkpoint, key).refuse_others()
        begun = time.monotonic()
        self._tell(fitting.trained, session)
        looked = time.monotonic() - begun
        contested = bool(config.grow and config.complexity == AUTO and self._window and folds)
        networks = contested and self.config.neurons is None
        race = session.leaving(_FOR_NETWORKS, least=LEAST_SECONDS) if networks else session
        left = race.seconds_left()
        log = fitting.train(
            race,
            key,
            lambda now: self._tell(now, session),
            # one level was there so far, and all will be
            judging=0.0 if left is None else min(len(levels) * looked, _FOR_JUDGING * left),
        )
        self._keep(fitting, starts, log)
        self._first = self._last if contested else None

    def _excerpt(self, stream: Stream) -> list[Record]:
        """Where held-out errors decide, all is trained in memory, as on any data."""
        return stream.pieces() if self.config.complexity == AUTO else []

    def _fit_stream(self, stream: Stream, scaler: Scaler, session: Session) -> None:
        """One level as `_fit` trains it with nothing held out, its windows read from disk.

        Starts are made from a sample of the rows.
        """
        check_options(self.config)
        config = self.config_ = self.config.replace(folds=0).resolved(
            [stream.usual()], stream.steps
        )
        self._check_structure([stream.usual()])
        source = StreamWindows(stream, scaler, config.batch, horizon=config.horizon)
        sample = source.sample(config.seed)
        starts = Starts(config, sample)
        fitting = prepared(starts, source.like(), levels=levels_of(config.complexity), folds=[])
        feed = source.feed()
        try:
            key = fingerprint(config, [stream.digest])
            log = fitting.train_stream(session, key, feed)
        finally:
            feed.close()
        self._keep(fitting, starts, log)
        self.mixture_ = self.mixture_.having_seen(sample)
        del self._last  # the noises of a stream's filter are the trained ones

    def _tell(self, trained: Trained, session: Session) -> None:
        """Show a model that can be used, while training goes on."""
        if any(one.held_out.errors for one in trained.candidates()):
            self._take(trained, choose(trained))
            session.found(self)

    def _keep(self, fitting: Fitting, starts: Starts, log: TrainingLog | None) -> None:
        """What is kept of all that was trained."""
        choice = choose(fitting.trained)
        self._take(fitting.trained, choice)
        self._last = Contender(fitting, starts, choice, self.stride_)
        best = np.flatnonzero(fitting.racers == choice.members[0])
        log = log or TrainingLog.nothing()
        self.training_ = replace(log, kept=int(best[0]) if len(best) else log.kept)

    def _won(self, now: Contender, session: Session) -> None:
        """A contender that is better takes the place of what was kept."""
        log = self.training_
        self.config_ = now.fitting.config
        self.stride_ = now.stride
        self._take(now.fitting.trained, now.choice)
        self._last = now
        self.training_ = log
        session.found(self)

    def _take(self, trained: Trained, choice: Choice) -> None:
        self.restarts_ = trained
        self.level_ = choice.level
        self.held_out_ = choice.held_out
        self.calibration_ = choice.calibration
        self.mixture_ = choice.mixture
        self.witnesses_ = choice.witnesses
        models = choice.mixture.models
        self.filter_ = FilterMembers.equal(models, untold_noises(models))
        self.steady_ = choice.steady
        self.straight_ = choice.straight
        self.worse_than_linear_ = choice.worse_than_linear
        self.training_ = TrainingLog.nothing()

    def _check_structure(self, records: list[Record]) -> None:
        config = self.config_
        if config.start == "linear" and (config.mean, config.emission) != ("linear", "linear"):
            raise OptionError(
                f"option start: expected 'random' with mean={config.mean!r} and "
                f"emission={config.emission!r}, "
                f"got 'linear', which brings its own; the preset 'paper' starts at random"
            )
        if config.emission == "selector" and config.latent_dim < records[0].output_dim:
            raise OptionError(
                f"option latent_dim: expected at least {records[0].output_dim}, the number of "
                "outputs, "
                f"got {config.latent_dim}"
            )
        if config.start == "random" and config.complexity in ("linear", AUTO):
            raise OptionError(
                f"option complexity: expected 'free', 'held' or a correlated one with "
                f"start='random', got {config.complexity!r}, which needs a linear model"
            )
        if config.scheme == "stochastic" and config.recognition_window > config.horizon:
            raise OptionError(
                f"option recognition_window: expected at most horizon={config.horizon}, "
                f"got {config.recognition_window}"
            )

    def _describe(self, facts: TrainingFacts) -> None:
        super()._describe(facts)
        self.rows_of_stream_ = None
        if facts.seen is None:
            return
        if isinstance(facts.like, Stream):
            self.rows_of_stream_ = (sum(map(len, facts.seen)), facts.like.steps)
        steps = [thinned(record, self.stride_) for record in facts.seen]
        self.mixture_ = self.mixture_.having_seen(steps)
        if self.witnesses_ is not None:
            seen = self.witnesses_.mixture.having_seen(steps)
            self.witnesses_ = replace(self.witnesses_, mixture=seen)

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        return self._free_run(u, y_start, samples, seed=seed)

    def _simulate_briefly(
        self, u: np.ndarray, y: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        def starts(mixture: Mixture) -> Firsts | None:
            return short_start(
                space_of(mixture.models, self._window, NoiseFactors()),
                u,
                y,
                stride=self.stride_,
                usual=mixture.usual,
                noise=np.minimum(self.calibration_.factor, 1.0),
            )

        return self._free_run(u, y[:: self.stride_], samples, seed=seed, starts=starts)

    def _free_run(
        self,
        u: np.ndarray,
        y_start: np.ndarray,
        samples: int | None,
        *,
        seed: int,
        starts: Callable[[Mixture], Firsts | None] = lambda mixture: None,
    ) -> Simulated:
        """`starts` says where the members of a mixture start; none: as they recognise."""
        count = self.config.simulation_samples if samples is None else samples
        if count < 2:
            raise OptionError(f"samples: expected at least 2 trajectories, got {count}")
        # drawn trajectories of a long run are kept only for who asks for them
        few = len(u) * y_start.shape[1] * count <= KEPT_VALUES
        keep = samples is not None or few
        first = starts(self.mixture_)
        run = self.mixture_.run(u, y_start, count, seed, keep=keep, first=first)
        if self.witnesses_ is None:
            return run.widened(self.calibration_.factor)
        run = run.widened(WITH_WITNESSES * self.calibration_.factor)
        first = starts(self.witnesses_.mixture)
        most = None if self.seen_ is None else self.seen_.unknown_std(run.mean)
        doubt = doubt_of(self.level_)
        wider = self.witnesses_.widening(
            run.std, u, y_start, seed=seed, weight=doubt, first=first, most=most
        )
        return replace(run.widened(wider), wider=wider)

    def _widened(self, run: Simulated, distance: np.ndarray) -> Simulated:
        return run if self.straight_ else run.widened(widening(distance)[:, None])

    @property
    def seen_by_band(self) -> Seen | None:
        """None for a system that is linear as far as the data tell: it need not bend elsewhere."""
        return None if self.straight_ else self.seen_

    def _path(self, run: Simulated) -> np.ndarray:
        assert run.state_mean is not None
        return run.state_mean

    def _visited(self, records: list[Record]) -> list[np.ndarray]:
        best = self.mixture_.only(0)  # the member whose states a run gives
        starts = [(record.u, record.y[: self._window]) for record in records]
        return [self._path(best.run(u, y, _VISITS, self.config.seed)) for u, y in starts]

    def _state_space(self) -> StateSpace:
        return self.filter_.space(self.mixture_.models, self._window)

    def stepper(self, *, best: bool = False) -> Stepper | MixtureStepper:
        """One step at a time, for a controller: some microseconds a step of each member's mean.

        The output is the mean of all members, as in `simulate`. `best=True` steps the best member
        alone: its state is smaller and a step faster, but it errs by more.
        """
        self._check_fitted()
        self.preprocessing_.check_row_by_row("stepper")
        members = len(self.mixture_.models.log_output_std)
        if best or members == 1:
            return Stepper(self.mixture_, self.scaler_, self.stride_)
        return MixtureStepper(self.mixture_, self.scaler_, self.stride_)

    def _jax_model(self, samples: int, seed: int) -> JaxModel:
        return jax_model(
            self.mixture_,
            self.scaler_,
            self.calibration_,
            stride=self.stride_,
            samples=samples,
            seed=seed,
            names=(self.input_names_, self.output_names_),
            dt=self.dt_,
            seen=self.seen_by_band,
        )

    @property
    def held_out_error(self) -> float | None:
        return self.held_out_[self.level_]["typical"] if self.held_out_ else None

    @property
    def is_linear(self) -> bool:
        return self.level_ == Linear.name

    @property
    def linear_order(self) -> int | None:
        return self.linear_order_

    def findings(self) -> list[tuple[str, str]]:
        found = super().findings()
        return [*found, *findings_of(self)] if self.held_out_ else found

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        values, curves = self.training_.to_parts()
        arrays = arrays_of("models", self.mixture_.models)
        arrays |= arrays_of(_USUAL, self.mixture_.usual)
        arrays |= {f"training.{name}": array for name, array in curves.items()}
        arrays["calibration"] = self.calibration_.factor
        filtered, more = self.filter_.to_parts()
        arrays |= more
        if self.witnesses_ is not None:
            arrays |= self.witnesses_.to_arrays()
        resolved = {name: getattr(self.config_, name) for name in RESOLVED}
        return {
            "training": values,
            "resolved": resolved,
            "level": self.level_,
            "held_out": self.held_out_,
            "steady": self.steady_,
            "straight": self.straight_,
            "worse_than_linear": self.worse_than_linear_,
            "always_shown": self.always_shown_,
            "rows_of_stream": self.rows_of_stream_,
            "filter": filtered,
            "witnesses": None if self.witnesses_ is None else self.witnesses_.folds,
        }, arrays

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.config_ = cast(ResolvedConfig, self.config.replace(**values["resolved"]))
        _check_sizes(self.config_, arrays, len(self.input_names_))
        like = blank_model(self.config_, len(self.input_names_), len(self.output_names_))
        members = len(arrays["models.log_output_std"])
        models = models_from(arrays, "models", like, members=members)
        usual = usual_from(arrays, _USUAL, members, states=self.config_.latent_dim)
        self.mixture_ = Mixture(
            models, self._window, self.config_.draws, engine=self.config_.engine, usual=usual
        )
        self.witnesses_ = Witnesses.from_parts(values.get("witnesses"), arrays, self.mixture_)
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)
        check(arrays, {"calibration": ("y",)}, y=len(self.output_names_))
        self.level_ = values["level"]
        self.held_out_ = _held_out(values["held_out"], self.level_)
        if self.witnesses_ is not None:
            doubt_of(self.level_)  # which refuses a level that is none
        self.steady_ = bool(values.get("steady", True))
        self.straight_ = bool(values.get("straight", False))
        self.worse_than_linear_ = str(values.get("worse_than_linear", ""))
        self.always_shown_ = int(values.get("always_shown", 0))
        self.rows_of_stream_ = _pair(values.get("rows_of_stream"))
        self.calibration_ = Calibration(arrays["calibration"])
        self.filter_ = self._restored_filter(values, arrays, like)

    def _restored_filter(
        self, values: dict[str, Any], arrays: dict[str, np.ndarray], like: StateSpaceModel
    ) -> FilterMembers:
        """Files of earlier versions have the same noises for all members, or none."""
        if "filter" in values:
            return FilterMembers.from_parts(values["filter"], arrays, like)
        models = self.mixture_.models
        noises = trained_noises(models)
        if "noises" in values:
            noises = NoiseFactors.from_dict(values["noises"])
        return FilterMembers.equal(models, noises)


def _check_sizes(config: ResolvedConfig, arrays: dict[str, np.ndarray], inputs: int) -> None:
    """Refuses options that ask for more numbers than the file has.

    They would fill the memory before that is noticed.
    """
    there = sum(array.size for array in arrays.values())
    states = config.latent_dim
    sets = 1 if config.shared_inducing else states
    points = sets * config.inducing * (states + inputs)
    if max(points, states * config.recognition_window) > max(there, 1):
        raise TypeError(f"the options ask for {points} numbers, the file has {there}")


def _pair(counts: Any) -> tuple[int, int] | None:
    """Two whole numbers of a model file, or none."""
    if counts is None:
        return None
    first, second = counts
    return int(first), int(second)


def _held_out(scores: Any, level: Any) -> dict[str, Any]:
    """Held-out errors of each level, the level that was kept among them; or none at all."""
    is_known = isinstance(scores, dict) and all(
        isinstance(score, dict) and {"typical", "inside"} <= score.keys()
        for score in scores.values()
    )
    if not is_known or (scores and level not in scores):
        raise TypeError(f"held_out: expected scores of {level!r} among others, got {scores!r}")
    return scores
