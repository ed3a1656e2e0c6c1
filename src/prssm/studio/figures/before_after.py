"""Preprocessing before a fit: each column as it was measured, and as the model would see it."""

import numpy as np
from bokeh.models import DataRange1d
from bokeh.models.layouts import LayoutDOM
from bokeh.plotting import figure

from prssm.data.preprocessing.preview import Preview
from prssm.data.record import Record
from prssm.prediction.plot import PREDICTED
from prssm.report.colours import QUIET
from prssm.report.interactive.curves import Curve, bands_over
from prssm.report.interactive.panels import hide_together, legend, panel, stacked

MOST = 8  # columns that make a readable figure
_WORDS = {"measured": QUIET, "as the model sees it": PREDICTED}


def before_after(look: Preview) -> LayoutDOM:
    """A panel for each output, then for each input."""
    before = look.before
    names = [*before.output_names, *before.input_names][:MOST]
    shown = DataRange1d(range_padding=0.0)
    below = "time [s]" if before.dt else "row"
    panels: list[figure] = []
    drawn = []
    for number, name in enumerate(names):
        last = number == len(names) - 1
        plot = panel(below if last else "", name, height=150 + 30 * last, x_range=shown)
        parts = {
            "measured": _curve([before], number),
            "as the model sees it": _curve(look.after, number),
        }
        curves = {label: curve for label, curve in parts.items() if len(curve.at)}
        drawn.append(bands_over(plot, curves, _WORDS, below=below))
        panels.append(plot)
    legend(panels[0], drawn[0])
    hide_together(drawn)
    return stacked(panels)


def _curve(records: list[Record], number: int) -> Curve:
    """One column of some records on the recording's own clock, with a break between them."""
    at = [np.zeros(0)]
    values = [np.zeros(0)]
    for record in records:
        column = np.concatenate([record.y, record.u], axis=1)[:, number]
        at += [record.clock, record.clock[-1:]]
        values += [column, np.full(1, np.nan)]
    return Curve(np.concatenate(at), np.concatenate(values))
