"""Residual tests that a reader can explore: errors one step ahead with themselves and the inputs.

Bars inside the grey bands are those of a perfect model.
"""

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.models.layouts import LayoutDOM
from bokeh.plotting import figure

from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.prediction.residuals import Residuals
from prssm.report.colours import QUIET
from prssm.report.fit.figures import MAX_PANELS
from prssm.report.interactive.panels import hover, panel, stacked


def correlations(residuals: Residuals) -> LayoutDOM:
    """A column of panels for each output: with itself, then with each input."""
    outputs = min(residuals.autocorrelation.shape[1], MAX_PANELS)
    inputs = min(residuals.cross_correlation.shape[2], MAX_PANELS)
    lags = Range1d(-0.7, len(residuals.cross_correlation) - 0.3)
    panels = []
    for i in range(-1, inputs):
        for output in range(outputs):
            if i < 0:
                values = residuals.autocorrelation[:, output]
                band = residuals.autocorrelation_band[:, output]
            else:
                values = residuals.cross_correlation[:, output, i]
                band = residuals.cross_correlation_band[:, output, i]
            plot = panel(
                "lag in steps" if i == inputs - 1 else "",
                "with itself" if i < 0 else f"with {residuals.input_names[i]}",
                height=190,
                x_range=lags,
                title=residuals.output_names[output] if i < 0 and outputs > 1 else "",
            )
            _bars(plot, values, band, first=1 if i < 0 else 0)
            panels.append(plot)
    return stacked(panels, columns=outputs)


def _bars(plot: figure, values: np.ndarray, band: np.ndarray, first: int) -> None:
    """Correlations by lag over the band of a perfect model; those beyond it stand out."""
    lag = first + np.arange(len(values))
    beyond = np.abs(values) > band
    source = ColumnDataSource(
        {
            "lag": lag,
            "value": values,
            "low": -band,
            "high": band,
            "colour": np.where(beyond, PREDICTED, MEASURED).tolist(),
        }
    )
    plot.vbar(
        x="lag",
        bottom="low",
        top="high",
        width=1.0,
        source=source,
        fill_color=QUIET,
        fill_alpha=0.25,
        line_width=0,
    )
    bars = plot.vbar(
        x="lag", top="value", width=0.55, source=source, fill_color="colour", line_width=0
    )
    reach = 1.15 * max(float(np.abs(values).max()), float(band.max()))
    plot.y_range = Range1d(-reach, reach)
    hover(plot, bars, [("lag", "lag"), ("correlation", "value"), ("band", "high")])
