"""How learnt systems behave, to explore: step and impulse responses, static curves and poles.

Models that are compared are a mapping from label to what `model.linearise()` or
`model.static_curve()` gave; they have the same inputs and outputs.
"""

from collections.abc import Callable, Mapping

import numpy as np
from bokeh.models import Range1d
from bokeh.models.layouts import LayoutDOM
from bokeh.plotting import figure

from prssm.models.functions.linearise import Linearised, Response
from prssm.models.functions.steady import StaticCurve
from prssm.report.colours import QUIET, TEXT
from prssm.report.fit.findings import MOST
from prssm.report.interactive.curves import Curve, bands_over
from prssm.report.interactive.panels import colours, hide_together, hover, legend, panel, stacked

STEP = "step"
IMPULSE = "impulse"


def responses(systems: Mapping[str, Linearised], kind: str = STEP) -> LayoutDOM:
    """Outputs after a step (or an impulse) of each input by one, with bands."""
    first = next(iter(systems.values()))
    found = {
        label: near.step_response() if kind == STEP else near.impulse_response()
        for label, near in systems.items()
    }
    below = "time [s]" if first.dt else "step"

    def curve(response: Response, output: int, column: int) -> Curve:
        band = response.band
        parts = (part[:, output, column] for part in (band.middle, band.low, band.high))
        return Curve(response.time, *parts)

    def draw(plot: figure, output: int, column: int) -> dict:
        mine = {label: curve(response, output, column) for label, response in found.items()}
        return bands_over(plot, mine, colours(list(found)), below=below)

    titles = [f"{kind} of {name}" for name in first.input_names]
    return _grid(first, draw, titles=titles, below=[below] * len(titles))


def static_curves(
    systems: Mapping[str, Linearised], curves: Mapping[str, StaticCurve]
) -> LayoutDOM:
    """Each output at rest over each input, the others at their mean; a dot is the mean input."""
    first = next(iter(systems.values()))
    chosen = colours(list(curves))

    def curve(found: StaticCurve, output: int, column: int) -> Curve:
        mine = found.along(column, first.input)
        band = found.band
        parts = (part[mine, output] for part in (band.middle, band.low, band.high))
        return Curve(found.inputs[mine, column], *parts)

    def draw(plot: figure, output: int, column: int) -> dict:
        below = first.input_names[column]
        mine = {label: curve(found, output, column) for label, found in curves.items()}
        drawn = bands_over(plot, mine, chosen, below=below)
        for label, near in systems.items():
            at = [near.input[column]], [near.output[output]]
            drawn[label].append(plot.scatter(*at, size=7, color=chosen[label], line_color=TEXT))
        return drawn

    return _grid(first, draw, titles=[], below=first.input_names)


def poles(near: Linearised) -> LayoutDOM:
    """Poles of the best model, and of the plausible systems around it, in the unit circle."""
    others = near.pole_samples.ravel()
    reach = 1.05 * min(max(1.0, float(np.abs(others).max(initial=0.0))), 2.0)
    plot = panel("real part", "imaginary part", height=360, y_limits=(-reach, reach))
    plot.sizing_mode = "fixed"
    plot.width = 340
    plot.x_range = Range1d(-reach, reach)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = plot.line(np.cos(angle), np.sin(angle), line_color=QUIET)
    colour = colours(["best"])["best"]
    cloud = plot.scatter(others.real, others.imag, size=4, color=colour, alpha=0.35)
    best = plot.scatter(near.poles.real, near.poles.imag, marker="x", size=10, color=TEXT)
    words = {"limit of stability": [circle], "plausible": [cloud], "best model": [best]}
    legend(plot, words)
    for renderer in (cloud, best):
        hover(plot, renderer, [("real", "x"), ("imaginary", "y")], mode="mouse")
    return plot


def _grid(
    first: Linearised,
    draw: Callable[[figure, int, int], dict],
    *,
    titles: list[str],
    below: list[str] | tuple[str, ...],
) -> LayoutDOM:
    """A row of panels for each output, a panel for each input."""
    rows = min(MOST, len(first.output_names))
    columns = min(MOST, len(first.input_names))
    panels: list[figure] = []
    drawn = []
    for output in range(rows):
        for column in range(columns):
            plot = panel(
                below[column] if output == rows - 1 else "",
                first.output_names[output],
                height=240,
                x_range=panels[column].x_range if output else None,
                title=titles[column] if titles and output == 0 else "",
            )
            drawn.append(draw(plot, output, column))
            panels.append(plot)
    legend(panels[0], drawn[0])
    hide_together(drawn)
    return stacked(panels, columns=columns)
