"""The report: one self-contained HTML page about a fitted model."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from prssm.data.record import Record
from prssm.evaluation.comparison import Run, residuals_of
from prssm.foundation.atomic import replacing
from prssm.models.estimator import Estimator
from prssm.prediction.prediction import Prediction
from prssm.report.fit import context_figures, figures
from prssm.report.fit.behaviour import behaviour
from prssm.report.fit.notes import notes_about
from prssm.report.html import render
from prssm.report.images import Image, embed
from prssm.report.residual_words import in_words
from prssm.report.tables import METRICS, ScoreRow, Table, outputs_table, score_table

MAX_RECORDS = 3  # free runs drawn of each part; the scores count all
PLAIN_MODELS = (
    "Free simulation beside two models that every learnt one has to beat: the training mean and a "
    "linear state-space model."
)
PACKAGES = ("prssm", "jax", "numpy", "scipy")


def write_report(
    path: str | os.PathLike[str],
    model: Estimator,
    runs: Sequence[Run],
    baselines: Sequence[ScoreRow] = (),
    *,
    title: str = "",
    data: str = "",
    held_out: bool | None = None,
    beside: str = PLAIN_MODELS,
    now: datetime | None = None,
) -> Path:
    """Writes the page about a fitted model.

    `runs[0]` is what counts (test data, or training data where nothing was kept back); `baselines`
    are the scores of the plain models on the same rows; `data` says where the rows came from.
    `held_out` says whether the model has not seen `runs[0]`; by default that is so where there are
    two runs. `beside` says what the other rows are.
    """
    held_out = len(runs) > 1 if held_out is None else held_out
    sections = _sections(model, runs, baselines)
    text = render(
        "report.html",
        title=title or f"{model.name} fitted to {data or 'a recording'}",
        date=(now or datetime.now().astimezone()).strftime("%d %B %Y, %H:%M %Z"),
        facts=_facts(model, runs, data),
        notes=notes_about(runs, baselines, model.training_, held_out=held_out),
        comparison=_cells(score_table([*baselines, ScoreRow(model.name, runs[0].scores)])),
        scored_on=runs[0].label,
        all_scores=_all_scores(runs),
        each=_cells(outputs_table(runs[0])) if len(runs[0].each) > 1 else None,
        beside=beside if baselines else "",
        sections=[(anchor(heading), heading, *rest) for heading, *rest in sections],
        warmup=model.warmup,
        options=_options(model),
    )
    with replacing(Path(path)) as stream:
        stream.write(text.encode())
    return Path(path)


def _facts(model: Estimator, runs: Sequence[Run], data: str) -> list[tuple[str, str]]:
    rows = [("Data", data)] if data else []
    for run in runs:
        count = len(run.predictions)
        steps = sum(len(p) for p in run.predictions)
        rows.append(
            (
                run.label.capitalize(),
                f"{steps} rows" + (f" in {count} experiments" if count > 1 else ""),
            )
        )
    rows += [
        ("Inputs", ", ".join(model.input_names_) or "none"),
        ("Outputs", ", ".join(model.output_names_)),
        ("Sampling time", f"{model.dt_:.6g} s" if model.dt_ else "not given"),
        ("Method", f"{model.name}, preset {model.preset}"),
        ("Seed", str(getattr(model.config, "seed", "none"))),
    ]
    if model.training_ is not None:
        rows.append(("Training", model.training_.summary()))
    rows += model.findings()
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [*rows, ("Made with", f"{versions}, Python {platform.python_version()}")]


def _cells(table: Table) -> dict[str, list]:
    """A table as the template wants it: texts, and which of them to mark."""
    rows = [
        [
            {"text": table.text(i, j), "best": (i, j) in table.best, "number": table.numeric(j)}
            for j in range(len(table.header))
        ]
        for i in range(len(table.rows))
    ]
    return {
        "header": [
            {"text": name, "number": table.numeric(j)} for j, name in enumerate(table.header)
        ],
        "rows": rows,
    }


def _all_scores(runs: Sequence[Run]) -> dict[str, list]:
    """One row a metric, one column a run, with the meaning beside it."""
    rows = [
        [
            metric.title,
            *(
                Table("", [""], [[run.scores.get(key)]], {0: metric.format}).text(0, 0)
                for run in runs
            ),
            metric.explanation,
        ]
        for key, metric in METRICS.items()
    ]
    cells = _cells(Table("", ["", *(run.label for run in runs), "meaning"], rows))
    for row in [cells["header"], *cells["rows"]]:
        for cell in row[1:-1]:
            cell["number"] = True
    return cells


def _options(model: Estimator) -> list[dict[str, str | bool]]:
    preset = model.PRESETS[model.preset].to_dict()
    values = model.config.to_dict()
    help_texts = {
        field.name: field.metadata.get("help", "")
        for field in model.config.__dataclass_fields__.values()
    }
    return [
        {
            "name": name,
            "value": str(value),
            "changed": value != preset[name],
            "help": help_texts[name],
        }
        for name, value in values.items()
    ]


def anchor(heading: str) -> str:
    """A heading as the name of a place in the page."""
    return "-".join("".join(c if c.isalnum() else " " for c in heading.lower()).split())


def _sections(
    model: Estimator, runs: Sequence[Run], baselines: Sequence[ScoreRow]
) -> list[tuple[str, str, list[Image]]]:
    """Heading, explanation and figures of each part of the page."""
    sections = []
    for run in runs:
        sections.append((f"Free run on {run.label}", _shown(run), _run_images(run)))
    first = runs[0].predictions[0]
    sections += _context(model, runs[0], [row for row in baselines if row.predictions])
    images = [
        embed(figures.residuals(first), "residuals over time"),
        embed(figures.calibration(runs), "observed against promised coverage", narrow=True),
    ]
    sections.append(
        (
            "Errors and calibration",
            "Errors should stay inside the band and show no pattern. Below, a line under "
            "the diagonal means a band that promises too much.",
            images,
        )
    )
    sections += _residual_section(model, runs[0])
    about = behaviour(model)
    if about is not None:
        sections.append(about)
    sections += _inner_sections(model, runs[0])
    return sections


def _inner_sections(model: Estimator, run: Run) -> list[tuple[str, str, list[Image]]]:
    """What happens inside: latent states and training, where there are any."""
    sections = []
    first = run.predictions[0]
    if first.state_mean is not None:
        explanation = (
            f"What the model remembers from step to step, on {run.label}, in its own units."
        )
        image = embed(figures.latent_states(first), "latent states with band")
        sections.append(("Latent states", explanation, [image]))
    if model.training_ is not None:
        explanation = (
            "Higher is better. The curves are noisy: after training, each restart is judged by an "
            "average of many draws on the training data, and the best is kept."
        )
        curve = figures.training_curve(model.training_)
        image = embed(curve, "training objective over iterations")
        sections.append(("Training", explanation, [image]))
    return sections


def _context(
    model: Estimator, run: Run, others: Sequence[ScoreRow]
) -> list[tuple[str, str, list[Image]]]:
    """Inputs of the run, other models beside it, and how the error grows."""
    first = run.predictions[0]
    sections = []
    if first.inputs is not None and first.inputs.shape[1]:
        image = embed(context_figures.inputs(first), "inputs over time")
        sections.append(("Inputs", f"What drove the run over {first.name}.", [image]))
    if others:
        figure = context_figures.beside_others(first, others, model.name)
        image = embed(figure, "runs of all models over the same record")
        told = "The same record, run by each of the models in the table."
        sections.append(("Beside the other models", told, [image]))
    if first.measured is not None:
        figure = context_figures.error_by_horizon(run, others, model.scaler_.y_std, model.name)
        image = embed(figure, "error against the number of rows")
        told = (
            "Root mean square error over the first rows of the run, outputs scaled to unit spread. "
            "A line that keeps rising is an error that adds up."
        )
        sections.append(("Error against horizon", told, [image]))
    return sections


def _residual_section(model: Estimator, run: Run) -> list[tuple[str, str, list[Image]]]:
    """What errors one step ahead still tell, or why they were not analysed."""
    checked = residuals_of(model, [_record(prediction) for prediction in run.predictions])
    told = " ".join(in_words(checked))
    images = []
    if not isinstance(checked, str):
        told += " Bars of a perfect model stay inside the grey bands, but for one in a hundred."
        images = [embed(figures.correlations(checked), "correlations of the residuals")]
    return [("Residuals one step ahead", told, images)]


def _record(run: Prediction) -> Record:
    """The recording that a run went over."""
    return Record(run.inputs, run.measured, run.dt, name=run.name)


def _shown(run: Run) -> str:
    count = len(run.predictions)
    return (
        f"The first {MAX_RECORDS} of {count} experiments; the scores count all."
        if count > MAX_RECORDS
        else ""
    )


def _run_images(run: Run) -> list[Image]:
    images = []
    for prediction in run.predictions[:MAX_RECORDS]:
        several = len(run.predictions) > 1
        images.append(
            embed(
                figures.free_run(prediction),
                f"free run over {prediction.name}",
                prediction.name if several else "",
            )
        )
    first = run.predictions[0]
    zoom = max(100, 4 * first.warmup)
    if len(first) > 1.5 * zoom:
        images.append(
            embed(figures.free_run(first, zoom), "free run, first part", f"The first {zoom} rows")
        )
    return images
