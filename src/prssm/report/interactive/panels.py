"""The common look of explorable figures: a panel, its legend, and several panels below each other.

A figure function makes panels with `panel`, draws, and returns `stacked(panels)` or a grid of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.layouts import gridplot
from bokeh.models import GlyphRenderer, HoverTool, Legend, LegendItem, PlainText, Range1d
from bokeh.models.layouts import LayoutDOM
from bokeh.models.ranges import Range
from bokeh.plotting import figure

from prssm.prediction.plot import PREDICTED
from prssm.report.colours import GRID, OTHERS, QUIET, TEXT

# Buttons that zoom and move work with the keyboard; a wheel scrolls the page until it is asked for.
TOOLS = "box_zoom,xpan,xwheel_zoom,xzoom_in,xzoom_out,pan_left,pan_right,undo,reset,save"
_LABEL = "10pt"


def colours(labels: Sequence[str]) -> dict[str, str]:
    """A colour for each model; the first one has that of a prediction."""
    chosen = (PREDICTED, *OTHERS)
    return {label: chosen[i % len(chosen)] for i, label in enumerate(labels)}


def panel(
    below: str,
    beside: str,
    *,
    height: int = 260,
    x_range: Range | None = None,
    y_limits: tuple[float, float] | None = None,
    title: str = "",
    tools: str = TOOLS,
) -> figure:
    """One empty panel with its two labels; names are shown as they are, never as formulas."""
    more: dict[str, Any] = {}
    if x_range is not None:
        more["x_range"] = x_range
    if y_limits is not None:
        more["y_range"] = Range1d(*y_limits)
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=tools,
        active_drag="box_zoom",
        active_scroll=None,
        toolbar_location="above",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
        **more,
    )
    plot.toolbar.logo = None
    if title:
        plot.title.text = PlainText(title)
        plot.title.text_font_style = "normal"
        plot.title.text_color = TEXT
    for axis, label in ((plot.xaxis, below), (plot.yaxis, beside)):
        axis.axis_label = PlainText(label)
    plain_axes(plot, line=QUIET, ticks=QUIET)
    return plot


def plain_axes(plot: figure, *, line: str | None, ticks: str) -> None:
    """The look of all axes and grids: upright labels, no small ticks; lines of these colours."""
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = _LABEL
        axis.axis_label_text_color = TEXT
        axis.major_label_text_color = TEXT
        axis.axis_line_color = line
        axis.major_tick_line_color = ticks
        axis.minor_tick_line_color = None
    plot.grid.grid_line_color = GRID


def legend(plot: figure, drawn: Mapping[str, Sequence[GlyphRenderer]]) -> None:
    """Words above a panel; a click on one hides what it names."""
    items = [
        LegendItem(label=value(label), renderers=list(renderers))
        for label, renderers in drawn.items()
        if renderers
    ]
    words = Legend(
        items=items,
        location="left",
        orientation="horizontal",
        click_policy="hide",
        ncols=2,
        border_line_color=None,
        background_fill_color=None,
        label_text_color=TEXT,
        label_text_font_size="9pt",
        margin=0,
        padding=2,
    )
    plot.add_layout(words, "above")


def hide_together(panels: Sequence[Mapping[str, Sequence[GlyphRenderer]]]) -> None:
    """What the legend of the first panel hides is hidden in the others too."""
    first, *others = panels
    for label, renderers in first.items():
        for other in others:
            for renderer in other.get(label, ()):
                renderers[0].js_link("visible", renderer, "visible")


def hover(
    plot: figure,
    renderer: GlyphRenderer,
    told: Sequence[tuple[str, str]],
    mode: str = "vline",
) -> None:
    """Numbers under the pointer: pairs of words and a column of the renderer's data."""
    tool = HoverTool(
        renderers=[renderer],
        visible=False,  # no button: numbers are always shown
        mode=mode,
        line_policy="nearest",
        point_policy="snap_to_data",
        tooltips=[(words, f"@{{{column}}}{{%.6g}}") for words, column in told],
        formatters={f"@{{{column}}}": "printf" for _, column in told},
    )
    plot.add_tools(tool)


def stacked(panels: Sequence[figure], columns: int = 1) -> LayoutDOM:
    """Panels in rows with one set of tools; a single one stays as it is."""
    if len(panels) == 1:
        return panels[0]
    return gridplot(
        list(panels),
        ncols=columns,
        sizing_mode="stretch_width",
        merge_tools=True,
        toolbar_location="above",
        toolbar_options={"logo": None},
    )
