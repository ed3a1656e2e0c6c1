"""A figure as text that a page can hold: SVG while it is small, else PNG."""

import base64
import io
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# of lines and bands; a long recording as SVG would be larger than its picture, and slow to draw
SVG_POINTS = 5_000
PNG_DPI = 130
COLOURS = 128


@dataclass(frozen=True)
class Image:
    """A picture in a page: its content, words for those who cannot see it, and a caption."""

    source: str
    alternative: str
    caption: str = ""
    narrow: bool = False


def embed(figure: Figure, alternative: str, caption: str = "", narrow: bool = False) -> Image:
    """The figure as a data address."""
    points = sum(map(_points, figure.axes))
    form, kind = ("svg", "svg+xml") if points <= SVG_POINTS else ("png", "png")
    text = base64.b64encode(_drawn(figure, form)).decode("ascii")
    return Image(f"data:image/{kind};base64,{text}", alternative, caption, narrow=narrow)


def png(figure: Figure) -> bytes:
    """The figure as the content of a PNG file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=PNG_DPI)
    return stream.getvalue()


def _points(ax: Axes) -> int:
    lines = sum(np.size(line.get_xdata()) for line in ax.lines)
    return lines + sum(len(path) for area in ax.collections for path in area.get_paths())


def _drawn(figure: Figure, form: str) -> bytes:
    stream = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else None
    figure.savefig(stream, format=form, dpi=PNG_DPI, metadata=metadata, transparent=True)
    return stream.getvalue() if form == "svg" else _with_a_palette(stream)


def _with_a_palette(stream: io.BytesIO) -> bytes:
    """The same PNG in few colours: a plot has no more, and its file is a quarter as large."""
    from PIL import Image as Pillow  # comes with matplotlib

    reduced = io.BytesIO()
    with Pillow.open(stream) as picture:
        few = picture.quantize(COLOURS, method=Pillow.Quantize.FASTOCTREE)
        few.save(reduced, format="png", optimize=True)
    return reduced.getvalue()
