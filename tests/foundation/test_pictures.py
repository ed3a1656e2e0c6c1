"""Pictures for pages: as `savefig` would make them, at half the work."""

import base64
import io

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from prssm.foundation.show.pictures import PNG_DPI, SVG_POINTS, data_address, own_figure


def _figure(points: int) -> Figure:
    """A line above a square of fixed shape: its place needs the layout's word."""
    figure = own_figure(5, 4)
    above, below = figure.subplots(2, 1)
    above.plot(np.linspace(0.0, 1e4, points), np.sin(np.arange(points)))
    above.set_ylabel("a line")
    below.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), xlabel="a square")
    return figure


def _content(address: str) -> bytes:
    return base64.b64decode(address.split(",", 1)[1])


def test_an_svg_is_that_of_savefig_to_the_last_letter():
    expected = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "same"}):
        _figure(50).savefig(
            expected, format="svg", dpi=PNG_DPI, metadata={"Date": None}, transparent=True
        )
        assert _content(data_address(_figure(50))) == expected.getvalue()


def test_a_png_has_the_pixels_of_savefig():
    pillow = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    _figure(SVG_POINTS + 1).savefig(stream, format="png", dpi=PNG_DPI, transparent=True)
    expected = np.asarray(pillow.open(stream).convert("RGBA"), float)
    content = _content(data_address(_figure(SVG_POINTS + 1)))
    found = np.asarray(pillow.open(io.BytesIO(content)).convert("RGBA"), float)
    assert found.shape == expected.shape
    assert np.abs(found - expected)[..., 3].mean() < 1.0  # few colours, in the same places


@pytest.mark.parametrize("points", [50, SVG_POINTS + 1])
def test_a_figure_is_drawn_once(points, monkeypatch):
    drawn = []
    draw = Figure.draw

    def counted(self, renderer):
        drawn.append(renderer)
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    data_address(_figure(points))
    assert len(drawn) == 1
