"""Proposes the next trial: all combinations in turn, or Optuna from what was found so far.

A proposer is asked when a worker is free, and looks at the records then.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.search.space import STRUCTURE, Choices, Dimension, Range, Space
from prssm.evaluation.search.trial import STOPPED, Base, Trial, trial_of
from prssm.foundation.errors import MissingExtraError
from prssm.models.registry import method

_TRIES = 100  # proposals of what was tried already before the space counts as used up

Cost = Callable[[Mapping[str, Any]], float]  # of a finished trial's metrics; lower is better


def all_trials(base: Base, combinations: Sequence[Mapping[str, Any]]) -> list[Trial]:
    """A trial for each combination; those that come to the same for their method are one."""
    trials = [trial_of(base, params) for params in combinations]
    return list({trial.key: trial for trial in reversed(trials)}.values())[::-1]


class OptunaProposer:
    """Proposes trials by a tree-structured Parzen estimator (TPE), until there are `total` of them.

    Random numbers of the i-th trial are derived from i, and the study is rebuilt from the records:
    with one worker an interrupted search goes on as if nothing had happened.
    """

    def __init__(self, space: Space, base: Base, results: Results, cost: Cost, total: int) -> None:
        self.space = space
        self.base = base
        self.results = results
        self.cost = cost
        self.total = total
        self.optuna = _optuna()
        with _quiet(self.optuna):
            self.study = self.optuna.create_study(direction="minimize")
        self.asked: dict[str, Any] = {}  # the study's trials that run now, by key
        self.told: set[str] = set()

    def __iter__(self) -> Iterator[Trial]:
        while True:
            self._tell()
            position = len(self._recorded()) + len(self.asked)
            trial = self._propose(position) if position < self.total else None
            if trial is None:
                return
            yield trial

    def _recorded(self) -> list[dict[str, Any]]:
        return [record for record in self.results.records.values() if not record["baseline"]]

    def _propose(self, position: int) -> Trial | None:
        """Something that is neither recorded nor running; None where nothing new is found."""
        for attempt in range(_TRIES):
            self.study.sampler = _sampler(self.optuna, position, attempt)
            asked = self.study.ask()
            params: dict[str, Any] = {}
            for dimension in self.space:
                if dimension.name in STRUCTURE or dimension.name in self._options(params):
                    params[dimension.name] = _suggested(asked, dimension)
            trial = trial_of(self.base, params)
            if trial.key not in self.results.records and trial.key not in self.asked:
                self.asked[trial.key] = asked
                return trial
            # known already, so nothing is learnt
            self.study.tell(asked, state=self.optuna.trial.TrialState.FAIL)
        return None

    def _options(self, params: Mapping[str, Any]) -> tuple[str, ...]:
        return method(params.get("method", self.base.method)).Config.names()

    def _tell(self) -> None:
        """Hand the study what was recorded since the last look."""
        for record in self._recorded():
            if record["key"] in self.told:
                continue
            self.told.add(record["key"])
            asked = self.asked.pop(record["key"], None)
            if asked is not None:
                # its record says more
                self.study.tell(asked, state=self.optuna.trial.TrialState.FAIL)
            self._add(record)

    def _add(self, record: Mapping[str, Any]) -> None:
        """Tells the study a trial with its outcome.

        A failed one counts as the worst of the stopped ones, so that others like it are avoided.
        """
        known = {d.name: d for d in self.space if d.name in record["params"]}
        if not all(dimension.holds(record["params"][name]) for name, dimension in known.items()):
            return  # from an earlier search over other values
        done = record["outcome"] == OK
        state = self.optuna.trial.TrialState
        reports = {i: -value for i, value in enumerate(record["curve"]) if value is not None}
        self.study.add_trial(
            self.optuna.trial.create_trial(
                state=state.COMPLETE if done else state.PRUNED,
                value=self.cost(record["metrics"]) if done else None,
                params={name: record["params"][name] for name in known},
                distributions={
                    name: _distribution(self.optuna, dimension) for name, dimension in known.items()
                },
                intermediate_values=reports if record["outcome"] in (OK, STOPPED) else {},
            )
        )


def _suggested(asked: Any, dimension: Dimension) -> Any:
    if isinstance(dimension, Choices):
        return asked.suggest_categorical(dimension.name, dimension.values)
    suggest = asked.suggest_int if dimension.whole else asked.suggest_float
    return suggest(dimension.name, dimension.low, dimension.high, **_marks(dimension))


def _distribution(optuna: Any, dimension: Dimension) -> Any:
    if isinstance(dimension, Choices):
        return optuna.distributions.CategoricalDistribution(dimension.values)
    kind = (
        optuna.distributions.IntDistribution
        if dimension.whole
        else optuna.distributions.FloatDistribution
    )
    return kind(dimension.low, dimension.high, **_marks(dimension))


def _marks(dimension: Range) -> dict[str, Any]:
    return ({"log": True} if dimension.log else {}) | (
        {"step": dimension.step} if dimension.step else {}
    )


def _sampler(optuna: Any, position: int, attempt: int) -> Any:
    seed = int(np.random.SeedSequence([position, attempt]).generate_state(1)[0])
    # constant_liar, which keeps parallel trials apart, was called experimental once
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return optuna.samplers.TPESampler(
            seed=seed, constant_liar=True, warn_independent_sampling=False
        )


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError(
            "--trials needs the package optuna: pip install 'prssm[search]' "
            "(without --trials all combinations are tried, which needs nothing)"
        ) from None
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """The study's birth is no news; afterwards the user's own setting is back."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
