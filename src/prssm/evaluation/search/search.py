"""A sweep or a search over options, by trials on held-out training data.

Trials are recorded one by one, so that a search can go on later.

    found = prssm.search(train, {"latent_dim": [2, 4, 6], "seed": "0..4"}, out="runs/search")
    found.best["options"]
"""

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prssm.data.coerce import as_records, check_training
from prssm.data.record import Record
from prssm.evaluation.benchmark.plan import check_preset
from prssm.evaluation.jobs.job_record import OK, SCHEMA_VERSION
from prssm.evaluation.jobs.provenance import data_checksum
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.runner import Unwatched, Watcher, events_of, needs_run, record_all
from prssm.evaluation.search.choice import best_trial, check_criterion, cost
from prssm.evaluation.search.proposers import OptunaProposer, all_trials
from prssm.evaluation.search.space import Space, grid, methods_of, options_of, space_of
from prssm.evaluation.search.stopping import bars_of
from prssm.evaluation.search.trial import Base, Trial, TrialWork, baselines, blank_trial, trial_of
from prssm.evaluation.search.validation import Validation
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError, OptionError, did_you_mean
from prssm.models.registry import method as method_called

TRIALS_FILE = "trials.jsonl"
QUESTION_FILE = "search.json"


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found: the records of all its trials, and how they are compared."""

    results: Results
    space: Space
    by: str
    validation: Validation

    @property
    def records(self) -> list[dict[str, Any]]:
        return list(self.results.records.values())

    @property
    def best(self) -> Mapping[str, Any]:
        """The record of the trial that is kept."""
        return best_trial(self.records, self.by)


def search(
    data: Any,
    over: Mapping[str, Any] | Sequence[str],
    *,
    out: str | os.PathLike[str] = "runs/search",
    method: str = "prssm",
    preset: str = "default",
    options: Mapping[str, Any] | None = None,
    trials: int | None = None,
    hold_out: float = 0.3,
    folds: int | None = None,
    by: str = "rmse",
    prune: bool | None = None,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    watcher: Watcher | None = None,
) -> Found:
    """Tries all combinations of the values in `over`, or with `trials` as many as Optuna proposes.

    `options` of the method are the same in all trials. Each trial is fitted to a part of the
    training data `data` and judged on the rest of it, which it has not seen: the last fraction
    `hold_out`, or each of so many `folds` once. Every finished trial is a line of
    `out`/trials.jsonl; the same call goes on from there. `prune` stops trials whose training ELBO
    is behind (by default in a search, not in a sweep).
    """
    check_criterion(by)
    records = as_records(data)
    check_training(records)
    validation = Validation(hold_out, folds)
    space = space_of(over, method)
    base = _checked_base(Base(method, preset, options or {}), space)
    fits = len(validation.splits(records))
    results = Results(out, TRIALS_FILE)
    planned = _planned(space, base, results, by=by, trials=trials)
    question = _question(records, space, base, validation=validation)
    _keep_question(Path(out) / QUESTION_FILE, question)
    todo = _missing(planned, base, results, retry_failed=retry_failed)
    if prune or (prune is None and trials is not None):
        todo = (_with_bars(trial, results, fits) for trial in todo)
    total = len(baselines()) + (len(planned) if trials is None else trials)
    watcher = watcher or Unwatched()
    watcher.start(total, min(total, len(results.records)))
    record_all(
        events_of(TrialWork(records, validation), todo, min(workers, total), dask=dask),
        results,
        watcher,
        blank=blank_trial,
    )
    return Found(results, space, by, validation=validation)


def _planned(space: Space, base: Base, results: Results, by: str, trials: int | None) -> Any:
    if trials is None:
        return all_trials(base, grid(space))
    if trials < 1:
        raise OptionError(f"--trials: expected at least 1, got {trials}")
    return OptunaProposer(
        space, base, results, cost=lambda metrics: cost(metrics, by), total=trials
    )


def _missing(planned: Any, base: Base, results: Results, retry_failed: bool) -> Iterator[Trial]:
    """The trials that are to be run, the plain models first.

    A trial that another program has meanwhile recorded is left out.
    """
    failed = [
        trial_of(base, record["params"])
        for record in results.records.values()
        if retry_failed
        and not record["baseline"]
        and needs_run(trial_of(base, record["params"]), results, True)
    ]
    seen: set[str] = set()
    for trial in itertools.chain(baselines(), failed, planned):
        if trial.key not in seen and needs_run(trial, results, retry_failed):
            seen.add(trial.key)
            yield trial


def _with_bars(trial: Trial, results: Results, fits: int) -> Trial:
    """The trial, told which others it must not fall behind of; a plain model runs to its end."""
    if trial.baseline:
        return trial
    curves = [
        record["curve"]
        for record in results.records.values()
        if record["outcome"] == OK and record["kind"] == trial.kind
    ]
    return replace(trial, bars=bars_of(curves, fits))


def _checked_base(base: Base, space: Space) -> Base:
    """The base with typed options: each belongs to a searched method and is not searched itself."""
    names = methods_of(space, base.method)
    for preset in next(
        (dimension.values for dimension in space if dimension.name == "preset"), (base.preset,)
    ):
        check_preset(preset, names)
    known = options_of(space, base.method)
    searched = {dimension.name for dimension in space}
    options: dict[str, Any] = {}
    for key, value in base.options.items():
        name = key.replace("-", "_")
        if name not in known:
            raise OptionError(
                f"unknown option {key!r} of {', '.join(names)}.{did_you_mean(name, known)}"
            )
        if name in searched:
            raise OptionError(
                f"option {name}: --over searches it, so it cannot be fixed to {value!r} too"
            )
        owner = next(kind for kind in map(method_called, names) if name in kind.Config.names())
        options |= owner.Config.parse({name: value})
    return replace(base, options=options)


def _question(
    records: Sequence[Record], space: Space, base: Base, validation: Validation
) -> dict[str, Any]:
    """What makes trials comparable.

    What is searched, and where it runs, may change from call to call.
    """
    searched = {dimension.name for dimension in space}
    return {
        "schema": SCHEMA_VERSION,
        "training data": f"{sum(map(len, records))} rows, checksum {data_checksum(records)}",
        "held out": str(validation),
        "method": None if "method" in searched else base.method,
        "preset": None if "preset" in searched else base.preset,
        "options": {name: base.options[name] for name in sorted(base.options)},
    }


def _keep_question(path: Path, question: dict[str, Any]) -> None:
    """Writes the question beside the trials.

    A folder that belongs to another question is refused and left as it is.
    """
    if path.exists():
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            before = None
        if not isinstance(before, dict):
            raise DataError(
                f"{path}: not written by prssm search (not a JSON object); use another --out folder"
            )
        for name in question:
            if before.get(name) != question[name]:
                raise DataError(
                    f"{path.parent}: holds a search with other {name}: {_told(before.get(name))} "
                    "there, "
                    f"{_told(question[name])} here; use another --out folder, or ask as before"
                )
        return
    with replacing(path) as stream:
        stream.write(json.dumps(question, indent=2).encode() + b"\n")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items()) or "none"
    return "searched over" if value is None else str(value)
