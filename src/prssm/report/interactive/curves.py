"""Curves with bands that are no runs over time: responses, static curve, slices, coverage.

`bands_over` is what they share: a panel with the curve and the band of each model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer
from bokeh.plotting import figure

from prssm.report.interactive.panels import hover
from prssm.report.interactive.thinning import ROWS, kept_rows


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over something, with a band where there is one."""

    at: np.ndarray
    middle: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def bands_over(
    plot: figure,
    curves: Mapping[str, Curve],
    colours: Mapping[str, str],
    *,
    below: str = "at",
    points: bool = False,
) -> dict[str, list[GlyphRenderer]]:
    """Draws each curve over its band; gives what was drawn for each label.

    `points` marks each value too: one alone is no line.
    """
    drawn: dict[str, list[GlyphRenderer]] = {}
    for label, curve in curves.items():
        source, told = _source(label, curve, below)
        drawn[label] = []
        if curve.low is not None:
            style = {"source": source, "fill_color": colours[label], "fill_alpha": 0.2}
            drawn[label].append(plot.varea(x="at", y1="low", y2="high", **style))
        line = plot.line("at", "middle", source=source, line_color=colours[label], line_width=1.8)
        drawn[label].insert(0, line)
        if points:
            style = {"source": source, "size": 6, "color": colours[label]}
            drawn[label].append(plot.scatter("at", "middle", **style))
        hover(plot, line, told)
    return drawn


def _source(label: str, curve: Curve, below: str) -> tuple[ColumnDataSource, list[tuple[str, str]]]:
    """The rows of a curve that are drawn, and what a reader is told of them."""
    columns = {"middle": curve.middle}
    told = [(below, "at"), (label, "middle")]
    if curve.low is not None and curve.high is not None:
        columns |= {"low": curve.low, "high": curve.high}
        told += [("low", "low"), ("high", "high")]
    kept = kept_rows(list(columns.values()), ROWS)
    shown = {"at": curve.at, **columns}
    return ColumnDataSource({name: values[kept] for name, values in shown.items()}), told
