"""Runs of several models over their inputs, on one axis of time."""

from collections.abc import Mapping

from bokeh.layouts import column
from bokeh.models import DataRange1d
from bokeh.models.layouts import LayoutDOM

from prssm.prediction.prediction import Prediction
from prssm.report.interactive.runs import free_runs, inputs


def runs_and_inputs(runs: Mapping[str, Prediction]) -> LayoutDOM:
    """The outputs with bands, and below them what drove the first run."""
    first = next(iter(runs.values()))
    shown = DataRange1d(range_padding=0.0)
    parts = [free_runs(runs, x_range=shown)]
    if first.inputs is not None and first.inputs.shape[1]:
        parts.append(inputs(first, x_range=shown))
    return column(parts, sizing_mode="stretch_width")
