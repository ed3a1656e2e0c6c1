"""`prssm search`: many models, judged on held-out training data.

The best one is refitted and kept.
"""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from prssm.cli.merging import Said, listed, merge
from prssm.cli.search_settings import SEARCH_WORDS, SearchWords, search_settings
from prssm.cli.terminal import note, unwarned, wants_progress
from prssm.evaluation.tasks.settings import SearchSettings
from prssm.foundation.errors import OptionError, TrainingInterrupted, did_you_mean

if TYPE_CHECKING:
    from prssm.evaluation.search.search import Found
    from prssm.evaluation.tasks.search import Kept
    from prssm.evaluation.tasks.sources import Loaded

# where it runs and what is shown: no part of the command that gives the results
_ABOUT_THE_RUN = ("config", "workers", "dask", "retry_failed", "quiet")


def search(
    *data: Annotated[
        str,
        Parameter(
            help="CSV, Parquet, MAT or NPZ file(s), one an experiment, or the name of a data set."
        ),
    ],
    words: Annotated[SearchWords, Parameter(name="*")] = SearchWords(),  # noqa: B008 - frozen
    **options: Annotated[
        str,
        Parameter(
            help="Any option of the method, the same in all trials, e.g. --iterations 300; `prssm "
            "methods prssm` lists them."
        ),
    ],
) -> None:
    """Try many options, keep the best.

    A sweep over all combinations, or with --trials a search by Optuna.

    Each trial is fitted to a part of the training data and judged on the rest; test data are scored
    once, at the end, for the chosen one. Finished trials are lines of OUT/trials.jsonl: the same
    command goes on where it stopped. At the end OUT has best.prssm (the best, refitted to all
    training data), best.toml (for prssm fit --config), report.html, search.png and trials.csv.
    """
    said = merge(data, words, options)
    settings = search_settings(said)
    if settings.folds is not None and words.hold_out is not None:
        raise OptionError("--hold-out and --held-out-folds: give one of them, not both")
    _check_options(settings)
    quiet = bool(said.words.quiet)
    from prssm.evaluation.tasks.sources import load_data
    from prssm.report.search.page import write_pages

    loaded = load_data(settings.data)
    found = _run(settings, loaded, quiet)
    if not quiet:
        _tell_found(found)
    kept = _keep_best(settings, found, loaded, quiet=quiet)
    pages = write_pages(settings.out, found, kept.chosen, _command_line(said))
    if not quiet:
        _tell_kept(found, kept)
        written = [found.results.path, *kept.written, *pages]
        print(f"written: {', '.join(str(path) for path in written)}")


def _check_options(settings: SearchSettings) -> None:
    """A misspelt option is compared with those of the methods and with the words of the command."""
    from prssm.evaluation.search.space import options_of, space_of

    known = options_of(space_of(settings.over, settings.method), settings.method)
    for name in settings.options:
        if name not in known:
            raise OptionError(
                f"unknown option {name!r}.{did_you_mean(name, [*known, *SEARCH_WORDS])}"
            )


def _run(settings: SearchSettings, loaded: Loaded, quiet: bool) -> Found:
    from prssm.evaluation.jobs.runner import Unwatched
    from prssm.evaluation.search.search import TRIALS_FILE
    from prssm.evaluation.tasks import search as task
    from prssm.report.progress import Lines, Live
    from prssm.report.search.tables import verdict

    watcher = (
        Unwatched()
        if quiet
        else Live(verdict, "search")
        if wants_progress(quiet)
        else Lines(verdict)
    )
    try:
        with unwarned():
            return task.run(settings, loaded.train, watcher)
    except KeyboardInterrupt:
        kept = f"finished trials are kept in {settings.out / TRIALS_FILE}"
        raise KeyboardInterrupt(f"stopped; {kept}, the same command goes on from there") from None


def _keep_best(settings: SearchSettings, found: Found, loaded: Loaded, quiet: bool) -> Kept:
    from prssm.evaluation.tasks import search as task

    try:
        return task.keep_best(settings, found, loaded, progress=not quiet)
    except TrainingInterrupted as error:
        raise TrainingInterrupted(f"{error}; the same command does") from error


def _tell_found(found: Found) -> None:
    from prssm.report.search.tables import MOST_ROWS, found_table
    from prssm.report.tables import print_table

    print_table(found_table(found, MOST_ROWS))
    _tell_notes(found)


def _tell_kept(found: Found, kept: Kept) -> None:
    from prssm.report.search.tables import chosen_table
    from prssm.report.tables import print_table

    if kept.chosen is not None and kept.chosen["scores"]:
        print_table(chosen_table(kept.chosen))
    print(f"best: {found.best['label']}")


def _tell_notes(found: Found) -> None:
    from prssm.report.search.tables import warning

    outcomes = [record["outcome"] for record in found.records]
    stopped = outcomes.count("stopped")
    failed = outcomes.count("failed")
    if stopped or failed:
        note(f"{stopped} trials were stopped and {failed} failed; the page says why")
    if warning(found):
        note(warning(found))


def _command_line(said: Said[SearchWords]) -> str:
    """The command that gives these results, for the page.

    How it was spread over machines does not belong to it.
    """
    words = ["prssm", "search", *said.data]
    for field in dataclasses.fields(said.words):
        value = getattr(said.words, field.name)
        is_default = value == getattr(SearchSettings, field.name, None)
        if value is None or is_default or field.name in _ABOUT_THE_RUN:
            continue
        name = field.name.replace("_", "-")
        words.append(f"--no-{name}" if value is False else f"--{name}")
        if field.name == "over":
            words += value
        elif not isinstance(value, bool):
            words.append(listed(value))
    for name, value in said.options.items():
        words += [f"--{name}", listed(value)]
    return shlex.join(words)
