"""The picture of a log: a narrow panel for each column over the row number.

The page fills the panels with the rows that are visible. A panel is named `panel-0`, ..., their
common data `rows`; `training` and `test` hold the shaded stretches, `begin` and `end` of each.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import (
    BoxSelectTool,
    BoxZoomTool,
    ColumnDataSource,
    HoverTool,
    PanTool,
    PlainText,
    Range1d,
    WheelZoomTool,
)
from bokeh.plotting import figure

from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.report.colours import GRID
from prssm.report.interactive.panels import plain_axes
from prssm.studio.figures.items import item
from prssm.studio.figures.windows import window

PARTS = {"training": MEASURED, "test": PREDICTED}
_MARK = {"fill_alpha": 0.13, "line_width": 0}
_HEIGHT = 120
_AXIS = 34  # more for the last panel, which has the numbers below


def columns_figure(names: Sequence[str], series: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The panels of some columns as the page takes them; `series` are their numbers by key."""
    rows = max(len(values) for values in series.values())
    shown = Range1d(0, max(rows - 1, 1), bounds=(0, max(rows - 1, 1)), name="shown")
    source = ColumnDataSource(window(series, 0, rows), name="rows")
    nothing: dict[str, list[float]] = {"begin": [], "end": []}
    parts = {part: ColumnDataSource(nothing, name=part) for part in PARTS}
    panels = []
    for number, (name, key) in enumerate(zip(names, series, strict=True)):
        last = number == len(names) - 1
        panels.append(_panel(name, key, source, shown, parts, last=last, number=number))
    return item(column(panels, sizing_mode="stretch_width"))


def _panel(
    name: str,
    key: str,
    source: ColumnDataSource,
    shown: Range1d,
    parts: Mapping[str, ColumnDataSource],
    *,
    last: bool,
    number: int,
) -> figure:
    plot = figure(
        name=f"panel-{number}",
        height=_HEIGHT + _AXIS * last,
        sizing_mode="stretch_width",
        x_range=shown,
        toolbar_location=None,
        tools=[],
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=GRID,
        min_border_left=70,
        min_border_right=16,
    )
    zoom = BoxZoomTool(dimensions="width", name="zoom")
    select = BoxSelectTool(dimensions="width", name="select")
    wheel = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
    plot.add_tools(zoom, select, PanTool(dimensions="width", name="pan"), wheel)
    plot.toolbar.active_drag = zoom
    plot.toolbar.active_scroll = wheel
    line = plot.line("row", key, source=source, line_color=MEASURED, line_width=1.2)
    line.nonselection_glyph = None
    line.selection_glyph = None
    told = [("row", "@row{0}"), ("value", f"@{{{key}}}{{0.[00000]}}")]
    plot.add_tools(HoverTool(renderers=[line], mode="vline", tooltips=told))
    for part, marked in parts.items():
        strip = plot.vstrip(x0="begin", x1="end", source=marked, fill_color=PARTS[part], **_MARK)
        strip.level = "underlay"
    _calm(plot, name, last=last)
    return plot


def _calm(plot: figure, name: str, *, last: bool) -> None:
    """Quiet axes; the name of a column is a plain text, whatever it holds."""
    plot.yaxis.axis_label = PlainText(name if len(name) < 22 else name[:20] + "…")
    plot.yaxis.ticker.desired_num_ticks = 3
    plot.xaxis.visible = last
    plot.xaxis.axis_label = PlainText("row")
    plot.xaxis.formatter.use_scientific = False
    plain_axes(plot, line=None, ticks=GRID)
