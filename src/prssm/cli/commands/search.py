"""`prssm search`: many models, judged on held-out training data; the best one is refitted and
kept.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from prssm.cli.search_settings import DEFAULTS, SEARCH_SETTINGS, SearchSettings
from prssm.cli.settings import resolve
from prssm.cli.words import note, wants_progress
from prssm.foundation.errors import OptionError, TrainingInterrupted, did_you_mean

if TYPE_CHECKING:
    from prssm.data.record import Record
    from prssm.evaluation.search.search import Found

DATA_SETTINGS = ("data", "inputs", "outputs", "time", "dt", "test", "split")
_RUN_SETTINGS = ("workers", "dask", "retry_failed", "quiet")  # where and how, not what


def search(
    *data: Annotated[
        str,
        Parameter(
            help="CSV, Parquet, MAT or NPZ file(s), one an experiment, or the name of a data set."
        ),
    ],
    settings: Annotated[SearchSettings, Parameter(name="*")] = SearchSettings(),  # noqa: B008
    **options: Annotated[
        str,
        Parameter(
            help="Any option of the method, the same in all trials, e.g. --iterations 300; `prssm "
            "methods prssm` lists them."
        ),
    ],
) -> None:
    """Try many options, keep the best: a sweep over all combinations, or with --trials a search by
    Optuna.

    Each trial is fitted to a part of the training data and judged on the rest; test data are scored
    once, at the end, for the chosen one. Finished trials are lines of OUT/trials.jsonl: the same
    command goes on where it stopped. At the end OUT has best.prssm (the best, refitted to all
    training data), best.toml (for prssm fit --config), report.html, search.png and trials.csv.
    """
    merged, method_options = resolve(data, settings, options, defaults=DEFAULTS)
    if not merged["over"]:
        raise OptionError("--over: expected what to try, e.g. --over latent_dim=2,4,6 seed=0..4")
    if merged["folds"] is not None and settings.hold_out is not None:
        raise OptionError("--hold-out and --folds: give one of them, not both")
    if merged["workers"] < 1:
        raise OptionError(f"--workers: expected at least 1, got {merged['workers']}")
    _check_words(method_options, merged)
    from prssm.cli.sources import training_and_test

    train, test = training_and_test(merged)
    found = _run(train, merged, method_options)
    _finish(found, train, test, merged=merged, command=_command_line(merged, method_options))


def _check_words(options: dict[str, Any], merged: dict[str, Any]) -> None:
    """A misspelt option is compared with those of the methods and of the command."""
    from prssm.evaluation.search.space import options_of, space_of

    known = options_of(space_of(merged["over"], merged["method"]), merged["method"])
    for name in options:
        if name not in known:
            raise OptionError(
                f"unknown option {name!r}.{did_you_mean(name, [*known, *SEARCH_SETTINGS])}"
            )


def _run(train: list[Record], merged: dict[str, Any], options: dict[str, Any]) -> Found:
    from prssm.evaluation.jobs.runner import Unwatched
    from prssm.evaluation.search.search import TRIALS_FILE, search
    from prssm.evaluation.search.trial import Base
    from prssm.evaluation.search.validation import Validation
    from prssm.report.progress import Lines, Live
    from prssm.report.search.tables import verdict

    quiet = merged["quiet"]
    watcher = (
        Unwatched()
        if quiet
        else Live(verdict, "search")
        if wants_progress(quiet)
        else Lines(verdict)
    )
    try:
        return search(
            train,
            merged["over"],
            out=merged["out"],
            base=Base(merged["method"], merged["preset"], options),
            validation=Validation(merged["hold_out"], merged["folds"]),
            watcher=watcher,
            **{
                name: merged[name]
                for name in ("trials", "by", "prune", "workers", "dask", "retry_failed")
            },
        )
    except KeyboardInterrupt:
        kept = f"finished trials are kept in {Path(merged['out']) / TRIALS_FILE}"
        raise KeyboardInterrupt(f"stopped; {kept}, the same command goes on from there") from None


def _finish(
    found: Found, train: list[Record], test: list[Record], merged: dict[str, Any], command: str
) -> None:
    """The chosen options, the refitted model, the pages, and what a person wants to read."""
    from prssm.evaluation.search.final import CHOSEN_FILE, MODEL_FILE, refit, write_options
    from prssm.report.search.page import write_pages
    from prssm.report.search.tables import MOST_ROWS, chosen_table, found_table
    from prssm.report.tables import print_table

    folder = Path(merged["out"])
    quiet = merged["quiet"]
    if not quiet:
        print_table(found_table(found, MOST_ROWS))
        _tell_notes(found)
    best = found.best
    written = [write_options(folder, best, {name: merged[name] for name in DATA_SETTINGS})]
    try:
        chosen = (
            None
            if merged["no_fit"]
            else refit(folder, best, train, test=test, progress=wants_progress(quiet))
        )
    except TrainingInterrupted as error:
        raise TrainingInterrupted(f"{error}; the same command does") from error
    if chosen is not None:
        written += [folder / MODEL_FILE, folder / CHOSEN_FILE]
    written += write_pages(folder, found, chosen, command)
    if quiet:
        return
    if chosen is not None and chosen["scores"]:
        print_table(chosen_table(chosen))
    print(f"best: {best['label']}")
    print(f"written: {', '.join(str(path) for path in [found.results.path, *written])}")


def _tell_notes(found: Found) -> None:
    from prssm.report.search.tables import warning

    outcomes = [record["outcome"] for record in found.records]
    stopped = outcomes.count("stopped")
    failed = outcomes.count("failed")
    if stopped or failed:
        note(f"{stopped} trials were stopped and {failed} failed; the page says why")
    if warning(found):
        note(warning(found))


def _command_line(merged: dict[str, Any], options: dict[str, Any]) -> str:
    """The command that gives these results, for the page; how it was spread over machines does not
    belong to it.
    """
    words = ["prssm", "search", *merged["data"]]
    for name, value in merged.items():
        if (
            name in ("data", "config", *_RUN_SETTINGS)
            or value is None
            or value == DEFAULTS.get(name)
        ):
            continue
        words.append(
            f"--{name.replace('_', '-')}"
            if value is not False
            else f"--no-{name.replace('_', '-')}"
        )
        if name == "over":
            words += (
                [f"{key}={_listed(item)}" for key, item in value.items()]
                if isinstance(value, dict)
                else value
            )
        elif not isinstance(value, bool):
            words.append(_listed(value))
    return shlex.join(
        [
            *words,
            *(word for name, value in options.items() for word in (f"--{name}", _listed(value))),
        ]
    )


def _listed(value: Any) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)
