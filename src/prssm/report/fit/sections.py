"""The parts of the report with figures: a heading, words, and pictures in order.

Each picture has a key; where the page can be explored, the figure of that key in `exploring` takes
its place on the screen, and the picture is what is printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from prssm.evaluation.comparison import Run, ScoreRow
from prssm.report.fit import behaviour, context_figures, figures
from prssm.report.fit.findings import Behaviour, Findings
from prssm.report.images import Image, embed
from prssm.report.residual_words import in_words

MAX_RECORDS = 3  # free runs drawn of each part; the scores count all
DETAIL = "detail"  # a picture that shows a part of another one: who can zoom does not need it


@dataclass(frozen=True)
class Section:
    """One part of the page; pictures by their keys."""

    heading: str
    explanation: str
    pictures: dict[str, Image]

    @property
    def anchor(self) -> str:
        """The heading as the name of a place in the page."""
        words = "".join(c if c.isalnum() else " " for c in self.heading.lower())
        return "-".join(words.split())


def sections(found: Findings) -> list[Section]:
    """All parts, in the order of the page."""
    return [
        *(_run_section(run, number) for number, run in enumerate(found.runs)),
        *_context(found),
        _errors(found),
        _residuals(found),
        *_ahead(found),
        *_behaviour(found),
        *_inside(found),
    ]


def run_key(part: int, record: int) -> str:
    """The key of a free run: which part of the data, which of its records."""
    return f"run-{part}-{record}"


def _run_section(run: Run, part: int) -> Section:
    count = len(run.predictions)
    told = (
        f"The first {MAX_RECORDS} of {count} experiments; the scores count all."
        if count > MAX_RECORDS
        else ""
    )
    pictures = {}
    for i, prediction in enumerate(run.predictions[:MAX_RECORDS]):
        pictures[run_key(part, i)] = embed(
            figures.free_run(prediction),
            f"free run over {prediction.name}",
            prediction.name if count > 1 else "",
        )
    first = run.predictions[0]
    zoom = max(100, 4 * first.warmup)
    if len(first) > 1.5 * zoom:
        words = f"The first {zoom} rows"
        pictures[DETAIL] = embed(figures.free_run(first, zoom), "free run, first part", words)
    return Section(f"Free run on {run.label}", told, pictures)


def _context(found: Findings) -> list[Section]:
    """Inputs of the run, other models beside it, and how the error grows."""
    first = found.first
    label = found.label
    parts = []
    if first.inputs is not None and first.inputs.shape[1]:
        image = embed(context_figures.inputs(first), "inputs over time")
        parts.append(Section("Inputs", f"What drove the run over {first.name}.", {"inputs": image}))
    if found.others:
        figure = context_figures.beside_others(first, found.others, label)
        image = embed(figure, "runs of all models over the same record")
        told = "The same record, run by each of the models in the table."
        parts.append(Section("Beside the other models", told, {"others": image}))
    if first.measured is not None:
        y_std = found.model.scaler_.y_std
        figure = context_figures.error_by_horizon(found.runs[0], found.others, y_std, label)
        image = embed(figure, "error against the number of rows")
        told = (
            "Root mean square error over the first rows of the run, outputs scaled to unit spread. "
            "A line that keeps rising is an error that adds up."
        )
        parts.append(Section("Error against horizon", told, {"horizon": image}))
    return parts


def _errors(found: Findings) -> Section:
    coverage = figures.calibration(found.runs)
    return Section(
        "Errors and calibration",
        "Errors should stay inside the band and show no pattern. Below, a line under the diagonal "
        "means a band that promises too much.",
        {
            "errors": embed(figures.residuals(found.first), "residuals over time"),
            "coverage": embed(coverage, "observed against promised coverage", narrow=True),
        },
    )


def _residuals(found: Findings) -> Section:
    """What errors one step ahead still tell, or why they were not analysed."""
    told = " ".join(in_words(found.residuals))
    pictures = {}
    if not isinstance(found.residuals, str):
        told += " Bars of a perfect model stay inside the grey bands, but for one in a hundred."
        figure = figures.correlations(found.residuals)
        pictures["residuals"] = embed(figure, "correlations of the residuals")
    return Section("Residuals one step ahead", told, pictures)


def _ahead(found: Findings) -> list[Section]:
    """Predictions that know the measurements up to some rows before."""
    if not found.ahead:
        return []
    near, *far = found.ahead
    rows = [ScoreRow(run.label, {}, predictions=[run]) for run in far]
    figure = context_figures.beside_others(near, rows, near.label)
    told = (
        "Here the model sees the measurements up to some rows before each row. Where these follow "
        "and the free run does not, the dynamics over a few rows are right and errors add up."
    )
    return [Section("Some rows ahead", told, {"ahead": embed(figure, "predictions rows ahead")})]


def _behaviour(found: Findings) -> list[Section]:
    """Responses, points at rest and poles, and slices of the transition."""
    parts = []
    heading = "Step response, static curve and poles"
    if isinstance(found.behaviour, str):
        parts.append(Section(heading, behaviour.NO_REST, {}))
    if isinstance(found.behaviour, Behaviour):
        near = found.behaviour.near
        static = behaviour.static_figure(near, found.behaviour.curve)
        pictures = {
            kind: embed(
                behaviour.response_figure(near, kind),
                f"{kind} responses with band",
                f"After {article} {kind} of the input by one",
            )
            for article, kind in (("a", "step"), ("an", "impulse"))
        }
        pictures["static"] = embed(static, "static curves with band", "Outputs at rest")
        pole = behaviour.pole_figure(near)
        pictures["poles"] = embed(pole, "poles in the unit circle", narrow=True)
        told = f"{behaviour.in_words(near)}{behaviour.without_dead_times(found.model)}"
        parts.append(Section(heading, told, pictures))
    if found.slices is not None:
        image = embed(behaviour.slice_figure(found.slices), "slices of the transition with band")
        told = (
            "The next states over one state or input at a time, the others as at one row of the "
            "run. Marks are rows of the run: where there are none, no data have told the curve. "
            "States are in the model's own units; the first ones and what moves them most are "
            "shown."
        )
        parts.append(Section("What the model learnt", told, {"slices": image}))
    return parts


def _inside(found: Findings) -> list[Section]:
    """Latent states and training, where there are any."""
    parts = []
    if found.first.state_mean is not None:
        told = (
            "What the model remembers from step to step, on "
            f"{found.runs[0].label}, in its own units."
        )
        image = embed(figures.latent_states(found.first), "latent states with band")
        parts.append(Section("Latent states", told, {"states": image}))
    log = found.model.training_
    if log is not None and log.outcomes:
        told = (
            "Higher is better. The curves are noisy: after training, each restart is judged by an "
            "average of many draws on the training data, and the best is kept."
        )
        image = embed(figures.training_curve(log), "training objective over iterations")
        parts.append(Section("Training", told, {"training": image}))
    return parts
