"""Scores over seeds: mean, deviation and the number of runs behind them.

Failed runs are counted, never averaged.
"""

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.job_record import OK

JobRecords = Mapping[str, Mapping[str, Any]]
Quantity = Callable[[Mapping[str, Any]], float | None]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class SeedScores:
    """One method on one data set: the values of the runs that ended well.

    `failed` and `missing` count the others.
    """

    values: tuple[float, ...]
    failed: int = 0
    missing: int = 0

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.values) if self.values else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation over seeds; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def comparable(self) -> bool:
        """A mean over the survivors of failed runs must not win a comparison."""
        return bool(self.values) and not self.failed and not self.missing


def on_test(name: str) -> Quantity:
    """The quantity 'this metric on the test part', for `summarise`."""
    return lambda record: record["metrics"]["test"].get(name)


def summarise(
    planned: Iterable[Experiment], records: JobRecords, quantity: Quantity
) -> dict[str, dict[str, SeedScores]]:
    """One quantity over the seeds as `scores[label][data set]`, in the planned order."""
    values: dict[str, dict[str, list[float]]] = {}
    failed: dict[tuple[str, str], int] = {}
    missing: dict[tuple[str, str], int] = {}
    for experiment in planned:
        place = (experiment.variant.label, experiment.dataset)
        found = values.setdefault(place[0], {}).setdefault(place[1], [])
        record = records.get(experiment.key)
        if record is not None and record["outcome"] != OK:
            failed[place] = failed.get(place, 0) + 1
            continue
        value = None if record is None else quantity(record)
        if value is None:
            missing[place] = missing.get(place, 0) + 1
        else:
            found.append(value)
    return {
        label: {
            dataset: SeedScores(
                tuple(found), failed.get((label, dataset), 0), missing.get((label, dataset), 0)
            )
            for dataset, found in row.items()
        }
        for label, row in values.items()
    }


def best_two(costs: Mapping[Name, float]) -> tuple[set[Name], set[Name]]:
    """Who has the lowest cost and who the second lowest.

    Equals share a place, and two firsts leave no second.
    """
    levels = sorted(set(costs.values()))
    best = {name for name, cost in costs.items() if levels and cost == levels[0]}
    second = {
        name
        for name, cost in costs.items()
        if len(best) == 1 and len(levels) > 1 and cost == levels[1]
    }
    return best, second


def failures(planned: Iterable[Experiment], records: JobRecords) -> list[tuple[Experiment, str]]:
    """The experiments that failed, each with its reason."""
    found = [(experiment, records.get(experiment.key)) for experiment in planned]
    return [
        (experiment, str(record["reason"]))
        for experiment, record in found
        if record is not None and record["outcome"] != OK
    ]
