"""The report: one self-contained HTML page about a fitted model."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from prssm.evaluation.comparison import Run
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import warn
from prssm.models.estimator import Estimator
from prssm.report.explorable import EXTRA, can_explore
from prssm.report.fit.findings import Findings, gathered
from prssm.report.fit.next_steps import next_steps
from prssm.report.fit.notes import notes_about
from prssm.report.fit.sections import DETAIL, sections
from prssm.report.html import render
from prssm.report.tables import METRICS, ScoreRow, Table, outputs_table, score_table

if TYPE_CHECKING:
    from prssm.report.interactive.embedding import Embedded

PLAIN_MODELS = (
    "Free simulation beside two models that every learnt one has to beat: the training mean and a "
    "linear state-space model."
)
PACKAGES = ("prssm", "jax", "numpy", "scipy")
LEAST_ROWS = 100  # of a panel
MOST_DATA = 1_300_000  # characters of explorable figures, so that a page stays under 5 MB


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
    own: str = "",
    now: datetime | None = None,
    static: bool = False,
) -> Path:
    """Writes the page about a fitted model.

    `runs[0]` is what counts (test data, or training data where nothing was kept back); `baselines`
    are the scores of the plain models on the same rows; `data` says where the rows came from.
    `held_out` says whether the model has not seen `runs[0]`; by default that is so where there are
    two runs. `beside` says what the other rows are, `own` what the model is called beside them.
    Figures can be explored where Bokeh is installed, unless `static` asks for pictures alone.
    """
    held_out = len(runs) > 1 if held_out is None else held_out
    found = replace(gathered(model, runs, baselines, held_out), own=own)
    text = render(
        "report.html",
        title=title or f"{model.name} fitted to {data or 'a recording'}",
        date=(now or datetime.now().astimezone()).strftime("%d %B %Y, %H:%M %Z"),
        facts=_facts(model, runs, data),
        notes=notes_about(
            runs, baselines, model.training_, held_out=held_out, is_linear=model.is_linear
        ),
        steps=next_steps(found),
        comparison=_cells(score_table([*baselines, ScoreRow(found.label, runs[0].scores)])),
        scored_on=runs[0].label,
        all_scores=_all_scores(runs),
        each=_cells(outputs_table(runs[0])) if len(runs[0].each) > 1 else None,
        beside=beside if baselines else "",
        sections=sections(found),
        detail=DETAIL,
        explore=_explored(found, static),
        warmup=model.warmup,
        options=_options(model),
    )
    with replacing(Path(path)) as stream:
        stream.write(text.encode())
    return Path(path)


def _explored(found: Findings, static: bool) -> Embedded | None:
    """The figures that can be explored; None for a page of pictures."""
    if static:
        return None
    if not can_explore():
        warn(f"the figures of the report are pictures; to zoom in them: {EXTRA}")
        return None
    from prssm.report.fit.exploring import explorable_figures
    from prssm.report.interactive.embedding import embedded
    from prssm.report.interactive.thinning import ROWS

    parts = embedded(explorable_figures(found))
    rows = ROWS
    while len(parts.script) > MOST_DATA and rows > LEAST_ROWS:
        rows = max(int(0.9 * rows * MOST_DATA / len(parts.script)), LEAST_ROWS)
        parts = embedded(explorable_figures(found, rows))
    return parts


def _counted(label: str, data: str) -> str:
    """What the number of rows is said of; the name of a file stays as it is."""
    if label == data:
        return "Rows"
    return label.capitalize() if label.endswith(" data") else label


def _facts(model: Estimator, runs: Sequence[Run], data: str) -> list[tuple[str, str]]:
    rows = [("Data", data)] if data else []
    for run in runs:
        count = len(run.predictions)
        steps = sum(len(p) for p in run.predictions)
        rows.append(
            (
                _counted(run.label, data),
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
