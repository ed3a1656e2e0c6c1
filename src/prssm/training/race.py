"""Many restarts raced in rounds: after each round a referee says who goes on.

Losers take no more time. A round has its own trainer and schedule of step sizes. What every restart
had learnt after a round is kept (`Standing`), because more training is not always better. Random
numbers depend on the number of the iteration alone, so a resumed race is the same race. A new kind
of training is a `Trainer`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from prssm.training.log import TrainingLog
from prssm.training.loop import run_to_end
from prssm.training.schedule import Schedule
from prssm.training.session import Session

CHUNK = 10  # iterations between looks at the clock, the watcher and the keyboard
_JUDGED = 5  # chunks at the end of a round whose mean objective compares the restarts
_LEAST = 50  # iterations of a round: where time is short, fewer restarts have them
_FEWEST = 10  # however small the budget of time
_RESERVE = 0.1  # of the budget, for what follows the training
_SHARE = 0.7  # of the time left, that a round may take before others
_WARM_UP = 2  # iterations after which it is known how long one takes; the first may take longer
_LOOKS = 20  # at the clock, at least, in the time that is left


@dataclass(frozen=True, eq=False)
class Moving:
    """What training changes; arrays lead with the restart, whose parameters are one row."""

    theta: np.ndarray
    first_moment: np.ndarray
    second_moment: np.ndarray
    updates: np.ndarray  # steps that the optimiser has taken
    alive_until: np.ndarray  # -1, or the iteration at which the restart was lost

    @classmethod
    def begin(cls, theta: np.ndarray) -> "Moving":
        count = len(theta)
        nothing = np.zeros_like(theta)
        updates = np.zeros(count, dtype=np.int64)
        return cls(theta.copy(), nothing, nothing.copy(), updates, np.full(count, -1))

    def of(self, chosen: np.ndarray) -> "Moving":
        """A copy of some restarts."""
        return Moving(**{name: array[chosen] for name, array in vars(self).items()})


class Trainer(Protocol):
    """Trains restarts by whole iterations."""

    def advance(
        self,
        moving: Moving,
        chosen: np.ndarray,
        schedule: Schedule,
        *,
        first: int,
        drawn: int,
        steps: int,
    ) -> tuple[Moving, np.ndarray]:
        """The restarts `chosen`, trained for `steps` iterations, and their mean objectives.

        An objective is not finite where its restart was lost. `first` counts the iterations of the
        schedule that are done, `drawn` those of the race: it decides the random numbers.
        """


class Round(NamedTuple):
    """Who trains, and how long and how fast.

    A round may be a part of a schedule, from its share `begin` to `end`; the next one then goes on
    with it if it is not `fresh`: a fresh one begins with an optimiser that remembers nothing.
    """

    trainer: Trainer
    schedule: Schedule
    begin: float = 0.0
    end: float = 1.0
    fresh: bool = True

    @property
    def iterations(self) -> int:
        return round(self.schedule.iterations * (self.end - self.begin))

    def course(self, planned: int) -> tuple[Schedule, int]:
        """The schedule if this round has so many iterations, and which of them is its first."""
        whole = round(planned / (self.end - self.begin))
        return self.schedule.shortened(whole), round(self.begin * whole)


class Standing(NamedTuple):
    """The race after each round so far; arrays lead with the round, then the restart."""

    theta: np.ndarray
    objective: np.ndarray  # NaN where a restart was lost
    active: np.ndarray  # who was trained in the round


Referee = Callable[[Standing], np.ndarray]
"""Who goes on (indices of restarts); nobody: the race is over."""

Fewer = Callable[[int], np.ndarray]
"""Whom to train (indices of restarts) where a budget of time allows about so many."""


def race(
    starts: np.ndarray,
    rounds: Sequence[Round],
    *,
    referee: Referee,
    session: Session,
    fingerprint: str,
    fewer: Fewer | None = None,
    judging: float = 0.0,
) -> tuple[Standing, TrainingLog]:
    """Train all `starts` (restarts, size) through the rounds, fewer and fewer of them.

    `fewer` says who is left out where a budget would end before all are trained enough; without
    it nobody is. `judging` are the seconds that the referee may take, as far as that is known.
    """
    course = _Course(rounds, referee, session, fewer=fewer, judging=judging)
    total = sum(one.iterations for one in rounds)
    state = run_to_end(
        course.begin(starts),
        course.advance,
        course.finished,
        figures=course.figures,
        total=total,
        session=session,
        fingerprint=fingerprint,
    )
    final = state["objectives"][-1]
    return _standing(state), TrainingLog.of_restarts(state, final, entered=state["actives"][0])


class _Course:
    """One race: from the state before a chunk of iterations to the state after it."""

    def __init__(
        self,
        rounds: Sequence[Round],
        referee: Referee,
        session: Session,
        *,
        fewer: Fewer | None,
        judging: float,
    ) -> None:
        self.rounds = rounds
        self.referee = referee
        self.session = session
        self.fewer = fewer
        self.judging = judging
        self.paced = _Paced()

    def begin(self, starts: np.ndarray) -> dict[str, Any]:
        count, size = starts.shape
        return {
            **vars(Moving.begin(starts)),
            "active": np.ones(count, dtype=bool),
            "round": np.asarray(0),
            "begun": np.asarray(0),  # iterations before this round
            "seconds_before": np.asarray(0.0),  # this round
            "planned": np.array([one.iterations for one in self.rounds]),
            "iteration": np.asarray(0),
            "seconds": np.asarray(0.0),
            "after": np.zeros((0, count, size)),
            "objectives": np.zeros((0, count)),
            "actives": np.zeros((0, count), dtype=bool),
            "curve": np.zeros((0, count)),
            "curve_iteration": np.zeros(0, dtype=np.int64),
        }

    def finished(self, state: dict[str, Any]) -> bool:
        return int(state["round"]) == len(self.rounds)

    def figures(self, state: dict[str, Any]) -> dict[str, float]:
        latest = state["curve"][-1:]
        known = latest[np.isfinite(latest)]
        lost = int(np.sum(state["alive_until"] >= 0))
        figures = {"best ELBO": float(known.max())} if known.size else {}
        return figures | ({"diverged": float(lost)} if lost else {})

    def advance(self, state: dict[str, Any]) -> dict[str, Any]:
        """One chunk of iterations; at the end of a round, the referee's word."""
        begun = time.perf_counter()
        number = int(state["round"])
        drawn = int(state["iteration"])
        first = drawn - int(state["begun"])
        planned = state["planned"].copy()
        steps = int(min(self._chunk(first), planned[number] - first))
        moving = Moving(**{name: state[name] for name in Moving.__dataclass_fields__})
        chosen = np.flatnonzero(state["active"] & (moving.alive_until < 0))
        state = dict(state)
        if steps > 0 and len(chosen):
            schedule, begin = self.rounds[number].course(int(planned[number]))
            trained, values = self.rounds[number].trainer.advance(
                moving, chosen, schedule, first=begin + first, drawn=drawn, steps=steps
            )
            state |= _written(moving, chosen, trained)
            row = np.full(len(moving.theta), np.nan)
            row[chosen] = values
            state["curve"] = np.concatenate([state["curve"], row[None]])
            state["curve_iteration"] = np.append(state["curve_iteration"], drawn + steps)
        state["iteration"] = np.asarray(drawn + max(steps, 0))
        took = time.perf_counter() - begun
        state["seconds"] = state["seconds"] + took
        self.paced.add(max(steps, 0), took)
        if 2 * first < planned[number]:  # later, the end of the schedule stays where it is
            spent = float(state["seconds"] - state["seconds_before"])
            planned[number] = self._within_budget(number, spent, first + max(steps, 0))
            if number == 0 and first + steps == _WARM_UP:
                state["active"] = self._affordable(state["active"], spent)
        state["planned"] = planned
        if first + steps >= planned[number] or not len(chosen):
            state = self._end_of_round(state)
        return state

    def _chunk(self, first: int) -> int:
        """Iterations until the next look at the clock, `first` of the round being done.

        With a budget so few that it is not overlooked; chunks end where they do without one.
        """
        left = self.session.seconds_left()
        cost = self.paced.cost
        if left is None:
            return CHUNK
        if first < _WARM_UP or cost is None:
            return 1
        wanted = int(min(left / (_LOOKS * cost), CHUNK))
        return max(1, min(wanted, CHUNK - first % CHUNK))

    def _within_budget(self, number: int, spent: float, done: int) -> int:
        """How many iterations a round may have, `done` of which took the seconds `spent`.

        A round that others follow has the first claim, up to a share of the time there was: what
        was trained too little is judged wrongly, and then later rounds are of no use.
        """
        planned = self.rounds[number].iterations
        seconds = self._seconds_for(number, spent)
        cost = self.paced.cost
        if seconds is None or cost is None:
            return planned
        affordable = done + int((seconds - spent) / cost)
        return min(planned, max(affordable, done, _FEWEST))

    def _seconds_for(self, number: int, spent: float) -> float | None:
        """Seconds that a round may take, which has taken some; None without a budget.

        What is judged after this round and those to come takes as long as before.
        """
        left = self.session.seconds_left()
        if left is None:
            return None
        to_come = len(self.rounds) - number
        share = 1.0 if to_come == 1 else _SHARE
        return (1.0 - _RESERVE) * share * max(spent + left - to_come * self.judging, 0.0)

    def _affordable(self, active: np.ndarray, spent: float) -> np.ndarray:
        """Who is trained: all that take part, or fewer that then are trained enough."""
        seconds = self._seconds_for(0, spent)
        cost = self.paced.latest
        if self.fewer is None or seconds is None or cost is None:
            return active
        enough = min(_LEAST, self.rounds[0].iterations)
        share = (seconds - spent) / (cost * (enough - _WARM_UP)) if enough > _WARM_UP else 1.0
        if share >= 1.0:
            return active
        kept = np.zeros_like(active)
        kept[self.fewer(int(max(share, 0.0) * active.sum()))] = True
        self.paced = _Paced(cost * kept.sum() / active.sum())
        return active & kept

    def _end_of_round(self, state: dict[str, Any]) -> dict[str, Any]:
        number = int(state["round"])
        active = state["active"]
        rounds = state["curve_iteration"] > int(state["begun"])
        late = state["curve"][rounds][-_JUDGED:]
        objective = state["objectives"][-1].copy() if number else np.full(len(active), np.nan)
        if len(late):
            objective[active] = np.mean(late[:, active], axis=0)
        elif not number:  # nobody was trained, so nobody is known to be better
            objective[active] = 0.0
        objective[state["alive_until"] >= 0] = np.nan
        state |= {
            "after": np.concatenate([state["after"], state["theta"][None]]),
            "objectives": np.concatenate([state["objectives"], objective[None]]),
            "actives": np.concatenate([state["actives"], active[None]]),
            "round": np.asarray(number + 1),
            "begun": state["iteration"],
            "seconds_before": state["seconds"],
        }
        if number + 1 == len(self.rounds):
            return state
        begun = time.perf_counter()
        going_on = np.zeros(len(active), dtype=bool)
        going_on[self.referee(_standing(state))] = True
        self.judging = max(self.judging, time.perf_counter() - begun)
        self.paced = _Paced()
        if self._is_too_late():
            going_on[:] = False
        state["active"] = going_on
        if self.rounds[number + 1].fresh:
            fresh = vars(Moving.begin(state["theta"]))
            state |= fresh | {"alive_until": state["alive_until"]}
        if not going_on.any():
            state["round"] = np.asarray(len(self.rounds))
        return state

    def _is_too_late(self) -> bool:
        """Whether what is left of a budget is needed for the last choice."""
        left = self.session.seconds_left()
        return left is not None and left <= self.judging


class _Paced:
    """How long an iteration of those that are trained now takes."""

    def __init__(self, expected: float | None = None) -> None:
        self.latest = expected
        self._iterations = 0
        self._seconds = 0.0

    def add(self, iterations: int, seconds: float) -> None:
        if iterations:
            self._iterations += iterations
            self._seconds += seconds
            self.latest = max(seconds / iterations, 1e-9)

    @property
    def cost(self) -> float | None:
        """Of the mean iteration, or the expected one; None where nothing is known."""
        if not self._iterations:
            return self.latest
        return max(self._seconds / self._iterations, 1e-9)


def _standing(state: dict[str, Any]) -> Standing:
    return Standing(state["after"], state["objectives"], state["actives"])


def _written(moving: Moving, chosen: np.ndarray, trained: Moving) -> dict[str, np.ndarray]:
    """All restarts, those `chosen` as they are after training."""
    changed = {}
    for name, array in vars(moving).items():
        changed[name] = array.copy()
        changed[name][chosen] = getattr(trained, name)
    return changed
