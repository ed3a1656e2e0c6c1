"""A matplotlib figure as text that a page can hold, and figures that a user expects to see."""

from __future__ import annotations

import base64
import io
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# of lines and bands; a long recording as SVG would be larger than its picture, and slow to draw
SVG_POINTS = 5_000
PNG_DPI = 130
COLOURS = 128


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches.

    A program that has imported pyplot expects its figures there: `plt.show()` and notebooks show
    it. Any other gets a figure of its own, and no global state is touched.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        return pyplot.figure(figsize=(width, height), layout="constrained")
    return own_figure(width, height)


def own_figure(width: float, height: float) -> Figure:
    """An empty figure that no program shows by itself: for pages and notebooks."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def data_address(figure: Figure) -> str:
    """The figure as the address of an image: SVG while it is small, else PNG."""
    small = sum(map(_points, figure.axes)) <= SVG_POINTS
    form, kind = ("svg", "svg+xml") if small else ("png", "png")
    text = base64.b64encode(_drawn(figure, form)).decode("ascii")
    return f"data:image/{kind};base64,{text}"


def png(figure: Figure) -> bytes:
    """The figure as the content of a PNG file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=PNG_DPI)
    return stream.getvalue()


def _points(ax: Axes) -> int:
    lines = sum(np.size(line.get_xdata()) for line in ax.lines)
    return lines + sum(len(path) for area in ax.collections for path in area.get_paths())


def _drawn(figure: Figure, form: str) -> bytes:
    """The figure without a background, drawn once.

    `savefig` would draw all of it twice: the first time to nowhere, to find the places of its
    parts. The layout finds them without.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    figure.dpi = PNG_DPI
    stream = io.BytesIO()
    if form == "svg":
        as_text = FigureCanvasSVG(figure)
        _lay_out(figure)
        as_text.print_svg(stream, metadata={"Date": None})
        return stream.getvalue()
    as_pixels = FigureCanvasAgg(figure)
    _lay_out(figure)
    as_pixels.print_png(stream)
    return _with_a_palette(stream)


def _lay_out(figure: Figure) -> None:
    """Gives all parts their places, with the letters of the canvas that the figure is on."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def _with_a_palette(stream: io.BytesIO) -> bytes:
    """The same PNG in few colours: a plot has no more, and its file is a quarter as large."""
    from PIL import Image as Pillow  # comes with matplotlib

    reduced = io.BytesIO()
    with Pillow.open(stream) as picture:
        few = picture.quantize(COLOURS, method=Pillow.Quantize.FASTOCTREE)
        few.save(reduced, format="png", optimize=True)
    return reduced.getvalue()
