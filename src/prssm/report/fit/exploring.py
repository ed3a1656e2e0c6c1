"""The figures of the report that a reader can explore, by the keys of the printed pictures.

Needs Bokeh: import this after `explorable.can_explore()` has said yes.
"""

from collections.abc import Sequence
from typing import Any

from bokeh.models.layouts import LayoutDOM
from bokeh.models.ranges import Range

from prssm.prediction.prediction import Prediction
from prssm.report.fit.findings import Behaviour, Findings
from prssm.report.fit.sections import MAX_RECORDS, run_key
from prssm.report.interactive import progress, residuals, responses, runs, slices
from prssm.report.interactive.thinning import ROWS


def explorable_figures(found: Findings, rows: int = ROWS) -> dict[str, LayoutDOM]:
    """One figure for each picture of `sections`; those over the first record move together.

    At most `rows` rows of a recording are drawn in each panel.
    """
    figures, time = _run_figures(found, rows)
    first = found.first
    label = found.label
    over: dict[str, Any] = {"rows": rows, "x_range": time}
    if first.inputs is not None and first.inputs.shape[1]:
        figures["inputs"] = runs.inputs(first, **over)
    if found.others:
        beside = {label: first} | {row.label: row.predictions[0] for row in found.others}
        figures["others"] = runs.free_runs(beside, bands=[label], **over)
    if first.measured is not None:
        several: dict[str, Sequence[Prediction]] = {label: found.runs[0].predictions}
        several |= {row.label: row.predictions for row in found.others}
        figures["horizon"] = progress.errors_by_horizon(several, found.model.scaler_.y_std)
        figures["errors"] = runs.errors(first, **over)
    figures["coverage"] = progress.coverage(found.runs)
    if not isinstance(found.residuals, str):
        figures["residuals"] = residuals.correlations(found.residuals)
    if found.ahead:
        figures["ahead"] = runs.free_runs({run.label: run for run in found.ahead}, **over)
    if first.state_mean is not None:
        figures["states"] = runs.states(first, **over)
    return figures | _system_figures(found)


def _run_figures(found: Findings, rows: int) -> tuple[dict[str, LayoutDOM], Range]:
    """The free runs, and the time axis of the first one."""
    figures: dict[str, LayoutDOM] = {}
    time = runs.time_range(found.first)
    for part, run in enumerate(found.runs):
        for i, prediction in enumerate(run.predictions[:MAX_RECORDS]):
            figures[run_key(part, i)] = runs.free_runs(
                {prediction.label: prediction},
                rows=rows,
                x_range=time if prediction is found.first else None,
            )
    return figures, time


def _system_figures(found: Findings) -> dict[str, LayoutDOM]:
    """What the learnt system does, and how it was trained."""
    figures: dict[str, LayoutDOM] = {}
    label = found.label
    if isinstance(found.behaviour, Behaviour):
        near = {label: found.behaviour.near}
        figures["step"] = responses.responses(near, responses.STEP)
        figures["impulse"] = responses.responses(near, responses.IMPULSE)
        figures["static"] = responses.static_curves(near, {label: found.behaviour.curve})
        figures["poles"] = responses.poles(found.behaviour.near)
    if found.slices is not None:
        figures["slices"] = slices.slices(found.slices)
    log = found.model.training_
    if log is not None and log.outcomes:
        figures["training"] = progress.training_curve(log)
    return figures
