"""What a model learnt, to explore: slices of its transition with bands, and where the data were."""

import numpy as np
from bokeh.models.layouts import LayoutDOM
from bokeh.plotting import figure

from prssm.models.functions.slices import TransitionSlices
from prssm.prediction.plot import MEASURED
from prssm.report.interactive.curves import Curve, bands_over
from prssm.report.interactive.panels import colours, hide_together, legend, panel, stacked


def slices(found: TransitionSlices) -> LayoutDOM:
    """A row for each next state, a panel for each of the coordinates that move the states most.

    Marks along the bottom are rows of the run: where there are none, no data have told the curve.
    """
    states, chosen = found.most_telling()
    panels: list[figure] = []
    drawn = []
    for state in states:
        for place, coordinate in enumerate(chosen):
            plot = panel(
                found.names[coordinate] if state == states[-1] else "",
                f"next state {state + 1}" if place == 0 else "",
                height=220,
                x_range=panels[place].x_range if state else None,
            )
            drawn.append(_slice(plot, found, coordinate, state))
            panels.append(plot)
    legend(panels[0], drawn[0])
    hide_together(drawn)
    return stacked(panels, columns=len(chosen))


def _slice(plot: figure, found: TransitionSlices, coordinate: int, state: int) -> dict:
    band = found.band
    parts = (part[coordinate, :, state] for part in (band.middle, band.low, band.high))
    words = "middle and 95 of 100 systems"
    curve = Curve(found.grid[coordinate], *parts)
    below = found.names[coordinate]
    drawn = bands_over(plot, {words: curve}, colours([words]), below=below)
    at = found.rug()[:, coordinate]
    bottom = float(np.nanmin(band.low[coordinate, :, state]))
    marks = plot.scatter(
        at,
        np.full(len(at), bottom),
        marker="dash",
        angle=0.5 * np.pi,
        size=9,
        line_color=MEASURED,
        line_alpha=0.35,
    )
    return drawn | {"rows of the run": [marks]}
