"""How large a network the data support, and networks of that size: `NetworkRace`.

A small one is trained first, on what some folds show, with as many states as the linear model has,
with fewer, and with two and three. Then more states and more neurons are tried in turn, from what
was learnt, as long as errors on held-out stretches fall. Networks of the size that did best are
trained on all data and on what every fold shows.

All training is a table of jobs whose results say which jobs are next. So the table is all that a
checkpoint holds. Jobs that a budget of time cut short go on in a run that is resumed. Of several
processes the first trains, and all take what it has found: networks are too small to be split.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from threading import Event
from typing import NamedTuple

import numpy as np

from prssm.data.pieces import spread_out
from prssm.data.record import Record
from prssm.dynamics.engines.choice import worker_threads
from prssm.dynamics.networks.equations import free_run
from prssm.dynamics.networks.search import Paused
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.foundation.errors import TrainingError
from prssm.linear.held_out import first_good
from prssm.linear.output_error import identify
from prssm.linear.system import LinearSystem
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.networks.jobs import Job, Path, Result, packed, taken_up, unpacked
from prssm.models.prssm.starts.network_start import (
    Size,
    TrainedNetwork,
    begun,
    improved,
    larger,
    most_promising,
    on_records,
)
from prssm.models.prssm.starts.recognised import first_state
from prssm.models.prssm.starts.start import MOST_STATES
from prssm.models.prssm.trained import HeldOut
from prssm.training.distributed import processes, store
from prssm.training.loop import State, run_to_end
from prssm.training.session import Session

EVERYTHING = -1  # the number of the fold that hides nothing
_FIRST_NEURONS = 4
_MOST_NEURONS = 32
_MORE_STATES = 2
FEWER = 2  # states than the linear model has, that are tried
SMALL = (2, 3)  # states that are tried even if the linear model has fewer, or many more
_MOST_STEPS = 6  # of growth
_ROWS_EACH = 4  # measured values for each parameter, at least
# Share of the held-out error that a larger size must save.
_GAIN = 0.03
# A network that errs so many times as much as what there is will not catch up.
_HOPELESS = 2.0
# One that errs so much more on the folds that judge may err less on all of them.
_NEAR = 1.3
# Rows on which sizes are compared, and on which networks are trained at last.
_FEW_ROWS = 8000
_MANY_ROWS = 120_000
_PIECE = 2000
# Steps of training on these.
_FIRST_STEPS = 80
_LINEAR_STARTS = 2  # of a linear model with fewer states
_STARTS = 3  # of which the most promising one is trained
_TRIAL_STEPS = 20  # that tell which it is
_STEPS = 50  # from a smaller network
_LAST_STEPS = 40
# Times the error of the best one on the same records, that a network of a mixture may have.
_ALIKE = 1.25
# Networks of a fold, and on all data.
FOLD_SEEDS = 2
SEEDS = 4
_STRETCH = 3000  # rows of a held-out stretch, at most
# Of these, the first share does not count when sizes are compared: there the first state errs.
_BEGINNING = 0.1
_WHOLE = 100  # who watches sees percent: how many jobs there are shows only on the way
_GROWTH = 0.5  # share of a budget, after which nothing larger is tried
_LATE = 0.1  # share of a budget by which networks may be late before they are given up
_AFTERWARDS = 2.0  # times that a network is looked at after the race, as when it is judged


class Part(NamedTuple):
    """What networks are shown, a linear model of it, and the stretches that are held out."""

    records: Sequence[Record]
    linear: LinearSystem
    held_out: Sequence[Record]


class _TooLateError(Exception):
    """What is left of a budget is not enough to make models of networks."""


@dataclass(eq=False)
class NetworkRace:
    """`run` trains networks; `path` is then what held-out errors chose, `network` gives each.

    `parts` are what each fold shows, and last what all data are. `judges` are the numbers of the
    folds that compare sizes. `target` is the held-out error of what there is: networks that do not
    come near it are given up, and `path` is None. So it is where a budget leaves no time to make
    models of them. `states` keeps their number fixed.
    """

    parts: dict[int, Part]
    judges: Sequence[int]
    window: int
    seed: int
    target: float
    states: int | None = None  # none: as many as the linear model has, and more
    patience: int = 0  # steps of growth that may gain nothing
    path: Path | None = None
    _done: dict[Job, Result] = field(default_factory=dict)
    _going_on: dict[Job, Result] = field(default_factory=dict)  # cut short before this run
    _here: set[Job] = field(default_factory=set)  # jobs of this run
    _errors: dict[tuple[Path, bool], float] = field(default_factory=dict)
    _last: list[list[Job]] = field(default_factory=list)  # rounds, if no larger size is tried
    _left: int = 0  # jobs, then
    _looking: float = 0.0  # seconds that it took to judge one network, at most
    _may_grow: Callable[[], bool] = lambda: True
    _is_late: Callable[[], bool] = lambda: False

    def run(self, session: Session, fingerprint: str) -> None:
        state: State = {"iteration": np.asarray(0), "numbers": np.zeros(0)}
        budget = session.seconds_left()
        if budget is not None:
            self._is_late = lambda: (
                (session.seconds_left() or 0.0) < self._afterwards() - _LATE * budget
            )
            self._may_grow = lambda: (
                (self._seconds_left(session) or 0.0) > _GROWTH * (budget - self._afterwards())
            )
        state = run_to_end(
            state,
            self._advance(session),
            finished=self._finished,
            figures=lambda state: self._figures(),
            total=_WHOLE,
            session=session,
            fingerprint=fingerprint,
        )
        self._take(state)

    def network(self, fold: int, number: int) -> TrainedNetwork:
        """A network of the size that was chosen, as it was trained at last, the best first.

        Those that err much more on their own records are left out, and others are there twice
        instead.
        """
        assert self.path is not None
        good = self._good(fold, self.path, last=True)
        return self._network(good[number % len(good)])

    def _good(self, fold: int, path: Path, last: bool) -> list[Job]:
        """The networks that a fold's mixture has, the best first."""
        seeds = SEEDS if fold == EVERYTHING else FOLD_SEEDS
        jobs = [Job(fold, seed, path, last) for seed in range(seeds)]
        errors = {job: self._network(job).rmse for job in jobs}
        limit = _ALIKE * min(errors.values())
        return sorted((job for job in jobs if errors[job] <= limit), key=lambda job: errors[job])

    def error(self, path: Path, last: bool) -> float:
        """Typical held-out error of networks of a size over the judging folds."""
        known = self._errors.get((path, last))
        if known is None:
            errors: list[np.ndarray] = []
            for fold in self.judges:
                each = [self._held_out(job) for job in self._good(fold, path, last)]
                errors += [np.mean(runs, axis=0) for runs in zip(*each, strict=True)]
            known = HeldOut(errors, errors).typical
            self._errors[path, last] = known
        return known

    def _take(self, state: State) -> None:
        """What the first process has found."""
        sizes = processes.from_leader(np.array(self.path or (), dtype=int).reshape(-1, 2))
        self.path = tuple(Size(int(states), int(neurons)) for states, neurons in sizes) or None
        self._done = unpacked(state["numbers"])

    def _finished(self, state: State) -> bool:
        """As the first process says: others might round differently."""
        over = store.leads() and not self._next(state)
        return bool(processes.from_leader(np.asarray(over), math.inf))

    def _advance(self, session: Session) -> Callable[[State], State]:
        train = self._trained(session)

        def advance(state: State) -> State:
            return processes.from_leader(train(state) if store.leads() else state, math.inf)

        return advance

    def _trained(self, session: Session) -> Callable[[State], State]:
        def advance(state: State) -> State:
            jobs = self._next(state)[: worker_threads()]
            stop = Event()
            # of the seconds left, what is left for others: all jobs have the same share
            left = self._seconds_left(session)
            others = 0.0 if left is None else left * (1.0 - len(jobs) / self._left)

            def go_on() -> bool:
                left = self._seconds_left(session)
                return not stop.is_set() and (left is None or left > others)

            with ThreadPoolExecutor(worker_threads()) as pool:
                futures = [pool.submit(self._train, job, go_on) for job in jobs]
                try:
                    results = [future.result() for future in futures]
                finally:
                    stop.set()
            self._here.update(jobs)
            found = dict(zip(jobs, results, strict=True))
            return self._counted(state, packed(self._done | self._going_on | found))

        return advance

    def _seconds_left(self, session: Session) -> float | None:
        """Of the budget, without what comes after the race."""
        left = session.seconds_left()
        return None if left is None else max(0.0, left - self._afterwards())

    def _afterwards(self) -> float:
        """Seconds that the last networks need to become models, by what it took to judge one."""
        last = SEEDS + FOLD_SEEDS * (len(self.parts) - 1)
        return _AFTERWARDS * last * self._looking

    def _counted(self, before: State, numbers: np.ndarray) -> State:
        """The table with more jobs done, and how far that is on the way; never less than before."""
        after = before | {"numbers": numbers}
        self._next(after)
        done = len(self._done)
        share = _WHOLE * done // (done + self._left)
        return after | {"iteration": np.maximum(before["iteration"], share)}

    def _figures(self) -> dict[str, float]:
        best = min(self._errors.values(), default=np.inf)
        figures = {"held-out error": best, "without": self.target}
        return {name: value for name, value in figures.items() if np.isfinite(value)}

    def _next(self, state: State) -> list[Job]:
        """The jobs whose turn it is; none at the end, or where it is too late for models of them.

        Networks are then given up. What was trained is there for a run that is resumed.
        """
        self._done, self._going_on = taken_up(unpacked(state["numbers"]), self._here)
        self._left = 0
        try:
            for jobs in self._rounds():
                missing = [job for job in jobs if job not in self._done]
                ready = [job for job in missing if job.parent is None or job.parent in self._done]
                if ready and self._is_late():
                    raise _TooLateError
                if ready:
                    self._left = len({*missing, *chain(*self._last)} - self._done.keys())
                    return ready
        except _TooLateError:
            self.path = None
        return []

    def _rounds(self) -> Iterator[list[Job]]:
        """Round after round of jobs; what comes after a round is known when its jobs are done."""
        first: list[Path] = [(Size(states, _FIRST_NEURONS),) for states in self._first_states()]
        self._last = self._last_rounds(first[-1])
        yield [job for path in first for job in self._judging(path)]
        path = first[first_good([self.error(path, False) for path in first])]
        self._last = self._last_rounds(path)
        if not self.error(path, False) < _HOPELESS * self.target:
            self.path = None
            return
        longest = path
        for _ in range(_MOST_STEPS):
            others = [(*longest, size) for size in self._larger(longest[-1])]
            if not others or (not self._may_grow() and not all(map(self._is_judged, others))):
                break
            yield [job for other in others for job in self._judging(other)]
            longest = min(others, key=lambda other: self.error(other, False))
            if self.error(longest, False) < (1.0 - _GAIN) * self.error(path, False):
                path = longest
                self._last = self._last_rounds(path)
            elif len(longest) - len(path) > self.patience:
                break
        judging = [
            Job(fold, seed, path, True) for fold in self.judges for seed in range(FOLD_SEEDS)
        ]
        yield judging
        if not self.error(path, True) < _NEAR * self.target:
            self.path = None
            return
        self.path = path
        yield from self._last

    def _first_states(self) -> list[int]:
        """States of the smallest networks, ascending.

        What neurons do in one state a linear model may need several for, so some fewer are tried
        too. And of a spring that hardens a linear model may see one state alone, so are a few in
        any case. Of long data none fewer than the linear model's are: there the time is for growth.
        """
        if self.states is not None:
            return [self.states]
        everything = self.parts[EVERYTHING]
        order = everything.linear.order
        if sum(map(len, everything.records)) > _FEW_ROWS:
            return list(range(order, max((order, *SMALL)) + 1))
        fewer = range(max(1, order - FEWER), order + 1)
        return sorted({*fewer, *SMALL})

    def _last_rounds(self, path: Path) -> list[list[Job]]:
        """Networks of a size on all data and on what every fold shows."""
        every = [
            Job(fold, seed, path, last=False)
            for fold in self.parts
            for seed in range(SEEDS if fold == EVERYTHING else FOLD_SEEDS)
        ]
        growing = [
            [job._replace(path=path[:length]) for job in every]
            for length in range(1, len(path) + 1)
        ]
        return [*growing, [job._replace(last=True) for job in every]]

    def _is_judged(self, path: Path) -> bool:
        return all(job in self._done for job in self._judging(path))

    def _judging(self, path: Path) -> list[Job]:
        return [Job(fold, seed, path) for fold in self.judges for seed in range(FOLD_SEEDS)]

    def _larger(self, size: Size) -> list[Size]:
        """What is tried after a size: more neurons, more states; nothing the data cannot carry."""
        linear = self.parts[EVERYTHING].linear
        values = sum(int((~np.isnan(one.y)).sum()) for one in self.parts[EVERYTHING].records)
        sizes = [Size(size.states, 2 * size.neurons)]
        if self.states is None:
            sizes.append(Size(size.states + _MORE_STATES, size.neurons))
        return [
            one
            for one in sizes
            if one.states <= MOST_STATES
            and one.neurons <= _MOST_NEURONS
            and _shape(linear, one).size * _ROWS_EACH <= values
        ]

    def _train(self, job: Job, go_on: Callable[[], bool]) -> Result:
        """The numbers of a network after training: its parameters, first states and error."""
        part = self.parts[job.fold]
        parent = job.parent
        seed = [self.seed, job.seed]
        few = spread_out(part.records, _FEW_ROWS, _PIECE)
        if parent is None:
            start = self._begun(job, few, go_on)
        elif job.last:
            start = self._network(parent)
            many = spread_out(part.records, _MANY_ROWS, _PIECE)
            if sum(map(len, many)) == sum(map(len, few)):
                return self._done[parent]
            start = on_records(start, many, self.window, seed=seed)
        else:
            start = larger(self._network(parent), job.path[-1], seed=seed)
        steps = _FIRST_STEPS if parent is None else _LAST_STEPS if job.last else _STEPS
        before = self._going_on.get(job)
        found = improved(
            start, steps, go_on, before=None if before is None else self._read(job, before)
        )
        return Result(found.numbers(), np.array(found.paused or (), dtype=float))

    def _begun(
        self, job: Job, records: Sequence[Record], go_on: Callable[[], bool]
    ) -> TrainedNetwork:
        """Where the smallest network starts."""
        states = job.path[0].states
        linear = self.parts[job.fold].linear
        if states < linear.order:
            linear = _smaller(linear, records, states)
        starts = [
            begun(
                linear,
                records,
                job.path[-1],
                seed=[self.seed, job.seed, number],
            )
            for number in range(_STARTS)
        ]
        return most_promising(starts, _TRIAL_STEPS, go_on)

    def _network(self, job: Job) -> TrainedNetwork:
        return self._read(job, self._done[job])

    def _read(self, job: Job, result: Result) -> TrainedNetwork:
        """The network whose numbers these are."""
        part = self.parts[job.fold]
        row = result.row
        paused = Paused(*result.paused) if len(result.paused) else None
        rows = _MANY_ROWS if job.last else _FEW_ROWS
        records = spread_out(part.records, rows, _PIECE)
        shape = _shape(part.linear, job.path[-1])
        firsts = row[shape.shared : -1].reshape(len(records), shape.states)
        system = NetworkSystem.of_row(row, shape)
        return TrainedNetwork(system, records, firsts, rmse=float(row[-1]), paused=paused)

    def _held_out(self, job: Job) -> list[np.ndarray]:
        """Errors (rows, Dy) of a network's free runs over what its fold holds out."""
        if self._is_late():
            raise _TooLateError
        begun = time.monotonic()
        network = self._network(job)
        hidden = network.recognition_hidden(self.window)
        recognition = network.recognition(self.window, hidden, [self.seed])
        found: list[np.ndarray] = []
        for record in self.parts[job.fold].held_out:
            part = record[:_STRETCH]
            row = np.append(network.system.row(), first_state(recognition, part, self.window))
            run = free_run(row, network.system.shape, part.u)
            errors = part.y - (np.full_like(part.y, np.inf) if run is None else run[1])
            found.append(errors[int(_BEGINNING * len(part)) :])
        self._looking = max(self._looking, time.monotonic() - begun)
        return found


def _smaller(linear: LinearSystem, records: Sequence[Record], states: int) -> LinearSystem:
    """A linear model with fewer states; one that is never moved where the data determine none."""
    try:
        return identify(records, states, starts=_LINEAR_STARTS, random_starts=0)
    except TrainingError:
        still = np.zeros((1, 1))
        return replace(linear, A=still, B=0.0 * linear.B[:1], C=0.0 * linear.C[:, :1])


def _shape(linear: LinearSystem, size: Size) -> Shape:
    outputs, inputs = linear.D.shape
    return Shape(size.states, inputs, outputs, size.neurons)


def parts_of(
    folds: Sequence[Fold],
    everything: tuple[Sequence[Record], LinearSystem],
    linear: Sequence[LinearSystem],
) -> dict[int, Part]:
    """What networks are shown, by the number of the fold."""
    found = {
        number: Part(fold.shown_records, system, fold.held_out_records)
        for number, (fold, system) in enumerate(zip(folds, linear, strict=True))
    }
    return found | {EVERYTHING: Part(*everything, held_out=())}
