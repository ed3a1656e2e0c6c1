"""One trial of a search: fit what is shown of the training data, judge what is held out."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.evaluation import comparison
from prssm.evaluation.benchmark.experiment import score
from prssm.evaluation.benchmark.plan import Variant, pairs, variant_of
from prssm.evaluation.jobs.job_record import (
    OK,
    SCHEMA_VERSION,
    Finished,
    failure,
    finite,
    key_of,
)
from prssm.evaluation.jobs.provenance import provenance
from prssm.evaluation.search.space import STRUCTURE
from prssm.evaluation.search.stopping import Bars, Evidence, TrialStopped, kind_of
from prssm.evaluation.search.validation import Validation
from prssm.models.registry import method

STOPPED = "stopped"


@dataclass(frozen=True)
class Base:
    """What all trials of a search share, unless the search goes over it."""

    method: str = "prssm"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """A method with its options and seed.

    `params` are what the search has set; a baseline is there to compare with.
    """

    variant: Variant
    seed: int
    params: tuple[tuple[str, Any], ...] = ()
    baseline: bool = False
    bars: Bars = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        variant = self.variant
        key = key_of(variant.method, variant.configuration(), self.seed, self.baseline)
        object.__setattr__(self, "key", key)

    @property
    def kind(self) -> str:
        return kind_of(self.variant.method, self.variant.configuration())

    def __str__(self) -> str:
        return self.variant.label


def trial_of(base: Base, params: Mapping[str, Any]) -> Trial:
    """The trial with these values.

    An option that its method does not have is left to the methods that have it.
    """
    name = params.get("method", base.method)
    preset = params.get("preset", base.preset)
    kind = method(name)
    # a preset is for the methods that have it
    preset = preset if preset in kind.PRESETS else "default"
    known = {
        key: value
        for key, value in params.items()
        if key in STRUCTURE or key in kind.Config.names()
    }
    known |= {"preset": preset} if "preset" in known else {}
    options = {key: value for key, value in base.options.items() if key in kind.Config.names()}
    options |= {key: value for key, value in known.items() if key not in STRUCTURE}
    seed = options.pop("seed", 0)
    variant = Variant(described(known), name, preset, options=pairs(options))
    variant.build(seed)  # an option out of range is said before anything runs
    return Trial(variant, seed, tuple(known.items()))


def described(params: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={shown(value)}" for name, value in params.items())


def shown(value: Any) -> str:
    """A value as a user would write it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def baselines() -> list[Trial]:
    """The plain models that stand beside every search: what does not beat them learnt nothing."""
    return [Trial(variant_of(name), 0, baseline=True) for name in comparison.BASELINES]


@dataclass(frozen=True, eq=False)
class TrialWork:
    """Runs trials on some training data; it travels to the workers with the data in it."""

    records: Sequence[Record]
    validation: Validation

    def __call__(self, trial: Trial) -> Finished:
        """Whatever goes wrong becomes a record with its reason; only Ctrl-C passes."""
        record = blank_trial(trial)
        evidence = Evidence(trial.bars)
        begun = time.perf_counter()
        try:
            self._run(trial, record, evidence)
        except KeyboardInterrupt:  # before Exception: an interrupted training is both
            raise
        except TrialStopped as error:
            record |= {"outcome": STOPPED, "reason": str(error)}
        except Exception as error:
            record |= failure(error)
        record["curve"] = finite(evidence.curve)
        record["seconds"] = time.perf_counter() - begun
        record["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
        return Finished(record, {})

    def _run(self, trial: Trial, record: dict[str, Any], evidence: Evidence) -> None:
        predictions = []
        for fit, held_out in self.validation.splits(self.records):
            evidence.begin_fit(sum(map(_measured_rows, fit)))
            model = trial.variant.build(trial.seed)
            model.fit(fit, progress=evidence)
            predictions += model.free_runs(held_out, seed=trial.seed)
        record["metrics"] = score(predictions, Scaler.fit(self.records).y_std, "held-out")


def _measured_rows(record: Record) -> int:
    return int((~np.isnan(record.y)).any(axis=1).sum())


def blank_trial(trial: Trial) -> dict[str, Any]:
    """The record before anything has run: all its fields are there from the start."""
    variant = trial.variant
    return {
        "schema": SCHEMA_VERSION,
        "key": trial.key,
        "label": str(trial),
        "baseline": trial.baseline,
        "params": dict(trial.params),
        "method": variant.method,
        "preset": variant.preset,
        "options": dict(variant.options),
        "seed": trial.seed,
        "configuration": variant.configuration(),
        "kind": trial.kind,
        "outcome": OK,
        "reason": None,
        "traceback": None,
        "metrics": None,
        "curve": [],
        "seconds": None,
        "finished": None,
        **provenance(),
    }
