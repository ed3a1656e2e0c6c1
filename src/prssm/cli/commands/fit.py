"""`prssm fit`: from a log to a model file, with its scores and, if wanted, a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from prssm.cli import many, streams
from prssm.cli.outputs import MODEL, REPORT, checked_name
from prssm.cli.settings import SETTINGS, Settings, resolve
from prssm.cli.words import note, wants_progress
from prssm.foundation.errors import OptionError, ProcessError, TrainingInterrupted, did_you_mean

if TYPE_CHECKING:
    from prssm.data.record import Record
    from prssm.data.stream.stream import Stream
    from prssm.models.estimator import Estimator


def fit(
    *data: Annotated[
        str,
        Parameter(
            help="CSV, Parquet, MAT or NPZ file(s), one an experiment, or the name of a data set."
        ),
    ],
    settings: Annotated[Settings, Parameter(name="*")] = Settings(),  # noqa: B008 - frozen
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
    merged, method_options = resolve(data, settings, options)
    if merged["stream"]:
        streams.check_settings(merged)
        method_options = streams.with_one_level(merged["method"], method_options)
    model = build(merged["method"], merged["preset"], method_options)
    out = checked_name(Path(merged["out"]), MODEL, "--out")
    report = checked_name(Path(merged["report"]), REPORT, "--report") if merged["report"] else None
    devices = many.devices(merged["devices"])
    many.join(merged)
    source, train, test = _load(merged)
    checkpoint = Path(merged["checkpoint"] or f"{out}.checkpoint")
    if many.leads(merged):
        _prepare(checkpoint, merged["resume"])
    try:
        model.fit(
            source,
            progress=wants_progress(merged["quiet"]),
            checkpoint=checkpoint,
            resume=merged["resume"],
            devices=devices,
        )
    except TrainingInterrupted as error:
        raise TrainingInterrupted(f"{error}; the same command with --resume goes on") from error
    except ProcessError as error:
        raise ProcessError(
            f"{error}; with --resume it goes on, on any number of devices"
        ) from error
    many.part(merged)
    if not many.leads(merged):
        return
    model.save(out)
    checkpoint.unlink(missing_ok=True)
    if merged["quiet"] and report is None:
        return
    _tell(model, train, test, merged=merged, out=out, report=report)


def build(method_name: str, preset: str, options: dict[str, Any]) -> Estimator:
    """The unfitted estimator; a misspelt option is compared with those of the method and of the
    command.
    """
    from prssm.models.registry import method

    kind = method(method_name)
    for name in options:
        if name not in kind.Config.names():
            known = [*kind.Config.names(), *SETTINGS]
            raise OptionError(
                f"unknown option {name!r} of {method_name}.{did_you_mean(name, known)}"
            )
    return kind(preset, **kind.Config.parse(options))


def _load(merged: dict[str, Any]) -> tuple[list[Record] | Stream, list[Record], list[Record]]:
    """What trains, what of it is shown afterwards, and what is scored."""
    from prssm.cli.sources import training_and_test

    if merged["stream"]:
        return streams.open_with_test(merged)
    train, test = training_and_test(merged)
    return train, train, test


def _prepare(checkpoint: Path, resume: bool) -> None:
    """An earlier run's checkpoint is continued or put aside, never overwritten."""
    if resume and not checkpoint.exists():
        note(f"{checkpoint}: no checkpoint there, so training starts from the beginning")
    if not resume and checkpoint.exists():
        kept = Path(f"{checkpoint}.old")
        os.replace(checkpoint, kept)
        note(
            f"an unfinished run was found; its checkpoint is now {kept} (to go on with it: "
            f"--resume --checkpoint {kept})"
        )


def _tell(
    model: Estimator,
    train: list[Record],
    test: list[Record],
    merged: dict[str, Any],
    out: Path,
    report: Path | None,
) -> None:
    from prssm.evaluation.comparison import compare
    from prssm.report.tables import print_table, score_table

    comparison = compare(model, train, test)
    if not merged["quiet"]:
        if not test:
            note(
                "no rows were kept back, so these are scores on training data; use --split 0.7 or "
                "--test FILE"
            )
        print_table(score_table(comparison.rows, title=f"free run, {comparison.runs[0].label}"))
        if model.training_ is not None:
            print(f"training: {model.training_.summary()}")
        for what, how in model.findings():
            print(f"{what.lower()}: {how}")
        print(f"model: {out}")
    if report is not None:
        from prssm.report.fit.page import write_report

        source = ", ".join(merged["data"] or [merged["stream"]])
        write_report(report, model, comparison.runs, baselines=comparison.baselines, data=source)
        print(f"report: {report}")
