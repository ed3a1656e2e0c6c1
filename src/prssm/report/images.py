"""A figure as text that a page can hold: SVG while it is small, else PNG."""

import base64
import io
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

# of lines; a long recording as SVG would be larger than its picture, and slow to draw
SVG_POINTS = 4_000
PNG_DPI = 130


@dataclass(frozen=True)
class Image:
    """A picture in a page: its content, words for those who cannot see it, and a caption."""

    source: str
    alternative: str
    caption: str = ""
    narrow: bool = False


def embed(figure: Figure, alternative: str, caption: str = "", narrow: bool = False) -> Image:
    """The figure as a data address."""
    points = sum(np.size(line.get_xdata()) for ax in figure.axes for line in ax.lines)
    form, kind = ("svg", "svg+xml") if points <= SVG_POINTS else ("png", "png")
    text = base64.b64encode(_drawn(figure, form)).decode("ascii")
    return Image(f"data:image/{kind};base64,{text}", alternative, caption, narrow=narrow)


def png(figure: Figure) -> bytes:
    """The figure as the content of a PNG file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=PNG_DPI)
    return stream.getvalue()


def _drawn(figure: Figure, form: str) -> bytes:
    stream = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else None
    figure.savefig(stream, format=form, dpi=PNG_DPI, metadata=metadata, transparent=True)
    return stream.getvalue()
