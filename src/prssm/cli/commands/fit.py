"""`prssm fit`: from a log to a model file, with its scores and, if wanted, a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from prssm.cli.merging import merge
from prssm.cli.outputs import MODEL, REPORT, checked_name
from prssm.cli.settings import FIT_WORDS, FitWords, fit_settings
from prssm.cli.terminal import news, note, phases
from prssm.foundation.errors import OptionError, ProcessError, TrainingInterrupted, did_you_mean

if TYPE_CHECKING:
    from prssm.evaluation.comparison import Comparison
    from prssm.evaluation.tasks.fit import Fitted
    from prssm.evaluation.tasks.settings import FitSettings
    from prssm.training.progress_file import ProgressFile


def fit(
    *data: Annotated[
        str,
        Parameter(
            help="CSV, Parquet, MAT or NPZ file(s), one an experiment, or the name of a data set."
        ),
    ],
    words: Annotated[FitWords, Parameter(name="*")] = FitWords(),  # noqa: B008 - frozen
    **options: Annotated[
        str,
        Parameter(
            help="Any option of the method, e.g. --latent-dim 4 --restarts 8 --seed 1; `prssm "
            "methods prssm` explains them."
        ),
    ],
) -> None:
    """Learn a model from a log and write it to a file.

    The table compares it with the training mean and a linear model. Ctrl-C saves; --resume goes on.
    """
    begun = time.monotonic()
    said = merge(data, words, options)
    settings = fit_settings(said)
    report = Path(said.words.report) if said.words.report else None
    _check_options(settings)
    checked_name(settings.out, MODEL, "--out")
    if report is not None:
        checked_name(report, REPORT, "--report")
    quiet = bool(said.words.quiet)
    watcher = _watcher(said.words.progress)
    phase = phases(quiet) if watcher is None else watcher.phase
    progress = not quiet if watcher is None else watcher
    fitted = _fit(settings, progress, phase, saved=news(quiet), begun=begun)
    if not fitted.leads or (quiet and report is None):
        return
    from prssm.evaluation.comparison import compare

    phase("free runs over the data, beside the plain models")
    hurry = settings.budget is not None
    comparison = compare(fitted.model, fitted.train, fitted.test, hurry=hurry)
    if not quiet:
        _tell(fitted, comparison, settings.out)
    if report is not None:
        _report(report, fitted, comparison, settings, static=bool(said.words.static))


def _report(
    path: Path, fitted: Fitted, comparison: Comparison, settings: FitSettings, *, static: bool
) -> None:
    from prssm.report.fit.page import write_report

    write_report(
        path,
        fitted.model,
        comparison.runs,
        baselines=comparison.baselines,
        data=settings.data.title,
        static=static,
    )
    print(f"report: {path}")


def _check_options(settings: FitSettings) -> None:
    """A misspelt option is compared with those of the method and with the words of the command."""
    from prssm.models.registry import method

    known = method(settings.method).Config.names()
    for name in settings.options:
        if name not in known:
            raise OptionError(
                f"unknown option {name!r} of {settings.method}."
                f"{did_you_mean(name, [*known, *FIT_WORDS])}"
            )


def _watcher(file: str | None) -> ProgressFile | None:
    """Who tells a program outside what goes on, where a file was named for that."""
    if file is None:
        return None
    from prssm.training.progress_file import ProgressFile

    return ProgressFile(Path(file))


def _fit(
    settings: FitSettings,
    progress: bool | ProgressFile,
    phase: Callable[[str], None],
    *,
    saved: Callable[[str], None],
    begun: float,
) -> Fitted:
    from prssm.evaluation.tasks import fit as task

    try:
        return task.fit(
            settings, progress=progress, note=note, phase=phase, saved=saved, begun=begun
        )
    except TrainingInterrupted as error:
        raise TrainingInterrupted(f"{error}; the same command with --resume goes on") from error
    except ProcessError as error:
        raise ProcessError(
            f"{error}; with --resume it goes on, on any number of devices"
        ) from error


def _tell(fitted: Fitted, comparison: Comparison, out: Path) -> None:
    from prssm.report.fit.notes import cautions
    from prssm.report.tables import outputs_table, print_table, score_table

    if not fitted.test:
        note(
            "no rows were kept back, so these are scores on training data; use --split 0.7 or "
            "--test FILE"
        )
    first = comparison.runs[0]
    print_table(score_table(comparison.rows, title=f"free run, {first.label}"))
    if len(first.each) > 1:
        print_table(outputs_table(first, title="each output alone"))
    model = fitted.model
    for text in cautions(comparison, model.training_, is_linear=model.is_linear):
        note(f"caution: {text}")
    if model.training_ is not None:
        print(f"training: {model.training_.summary()}")
    for what, how in model.findings():
        print(f"{what.lower()}: {how}")
    print(f"model: {out}")
