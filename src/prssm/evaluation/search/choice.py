"""Chooses among finished trials: by held-out error, as the mean over the seeds."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prssm.evaluation.jobs.job_record import OK
from prssm.foundation.errors import OptionError, TrainingError, did_you_mean

TrialRecord = Mapping[str, Any]
# How trials are compared: a metric and its sign. Scaled by the spread of each output, so that
# several outputs count alike.
CRITERIA = {"rmse": ("nrmse", 1.0), "log-likelihood": ("log_likelihood_scaled", -1.0)}


def check_criterion(by: str) -> None:
    if by not in CRITERIA:
        raise OptionError(f"--by: unknown criterion {by!r}.{did_you_mean(by, CRITERIA)}")


def cost(metrics: Mapping[str, Any], by: str) -> float:
    """What a search makes small."""
    name, sign = CRITERIA[by]
    return sign * float(metrics[name])


@dataclass(frozen=True)
class Configuration:
    """All trials that differ in nothing but their seed."""

    trials: Sequence[TrialRecord]
    by: str

    @property
    def finished(self) -> list[TrialRecord]:
        return [record for record in self.trials if record["outcome"] == OK]

    @property
    def params(self) -> dict[str, Any]:
        return {name: value for name, value in self.trials[0]["params"].items() if name != "seed"}

    @property
    def cost(self) -> float:
        return statistics.fmean(cost(record["metrics"], self.by) for record in self.finished)

    @property
    def best(self) -> TrialRecord:
        return min(self.finished, key=lambda record: cost(record["metrics"], self.by))

    def mean(self, metric: str) -> float | None:
        values = [record["metrics"][metric] for record in self.finished]
        return None if not values or None in values else statistics.fmean(values)


def configurations(records: Iterable[TrialRecord], by: str) -> list[Configuration]:
    """All configurations, best first.

    Those of whose seeds fewer than half finished come later, those with none last.
    """
    groups: dict[str, list[TrialRecord]] = {}
    for record in records:
        key = json.dumps(
            [record["method"], record["configuration"], record["baseline"]], sort_keys=True
        )
        groups.setdefault(key, []).append(record)

    def rank(found: Configuration) -> tuple[bool, bool, float]:
        return (
            not found.finished,
            2 * len(found.finished) < len(found.trials),
            found.cost if found.finished else 0.0,
        )

    return sorted((Configuration(group, by) for group in groups.values()), key=rank)


def best_trial(records: Iterable[TrialRecord], by: str) -> TrialRecord:
    """The best seed of the best configuration; an error that says why where no trial finished."""
    tried = [record for record in records if not record["baseline"]]
    found = configurations(tried, by)
    if not found:
        raise TrainingError("no trial was run, so there is nothing to choose from")
    if not found[0].finished:
        raise TrainingError(
            f"none of the {len(tried)} trials finished; the first ended with: {tried[0]['reason']}"
        )
    return found[0].best


def unbeaten(records: Iterable[TrialRecord], by: str) -> list[str]:
    """Names of the plain models that no configuration has beaten on the held-out data."""
    records = list(records)
    tried = configurations([record for record in records if not record["baseline"]], by)
    best = next((found.cost for found in tried if found.finished), None)
    plain = [record for record in records if record["baseline"] and record["outcome"] == OK]
    return [
        record["label"] for record in plain if best is None or cost(record["metrics"], by) <= best
    ]
