"""Pictures of a simulated run: one output, or the first few in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prssm.foundation.show.pictures import data_address, new_figure, own_figure
from prssm.foundation.show.thinning import extreme_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from prssm.prediction.prediction import Prediction

MEASURED = "#1f4e79"
PREDICTED = "#d1581c"
OUTSIDE = "#a3231c"
_SHOWN = 3  # outputs of a picture in a notebook
_ROWS = 1500  # drawn rows of each


def plot_output(
    prediction: Prediction, output: int = 0, ax: Axes | None = None, *, rows: int | None = None
) -> Axes:
    """Measured values, mean and two-sigma band, in a new figure unless axes are given.

    The rows that the model has seen are shaded, those outside of its training data are marked.
    `rows` are the most to draw: those with the highest and lowest values stay.
    """
    ax = new_figure(9, 3).subplots() if ax is None else ax
    time = prediction.time
    mean = prediction.mean[:, output]
    reach = 2 * prediction.std[:, output]
    measured = None if prediction.measured is None else prediction.measured[:, output]
    columns = [mean - reach, mean + reach] + ([] if measured is None else [measured])
    kept = np.arange(len(mean)) if rows is None else extreme_rows(columns, rows)
    low, high = (column[kept] for column in columns[:2])
    if measured is not None:
        ax.plot(time[kept], measured[kept], color=MEASURED, lw=1.1, label="measured")
    ax.plot(time[kept], mean[kept], color=PREDICTED, lw=1.2, label=prediction.label)
    ax.fill_between(time[kept], low, high, color=PREDICTED, alpha=0.22, lw=0, label="± 2 std")
    if prediction.warmup:
        ax.axvspan(
            time[0],
            time[min(prediction.warmup, len(time)) - 1],
            color="0.85",
            zorder=0,
            lw=0,
            label="seen samples",
        )
    _mark_outside(prediction, ax)
    ax.set_ylabel(prediction.output_names[output])
    ax.set_xlabel("time [s]" if prediction.dt else "sample")
    ax.margins(x=0)
    return ax


def picture(prediction: Prediction) -> str:
    """The first outputs as the address of an image, for a notebook."""
    count = min(prediction.mean.shape[1], _SHOWN)
    figure = own_figure(8, 1.7 * count + 0.6)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for output, ax in enumerate(axes):
        plot_output(prediction, output, ax, rows=_ROWS)
        ax.yaxis.label.set_parse_math(False)
        ax.label_outer()
    handles, words = axes[0].get_legend_handles_labels()
    legend = figure.legend(
        handles,
        words,
        loc="outside upper left",
        ncols=len(words),
        frameon=False,
        fontsize="small",
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return data_address(figure)


def _mark_outside(prediction: Prediction, ax: Axes) -> None:
    """A red bar along the bottom where the run is outside of what the model has seen."""
    outside = prediction.outside
    if outside is None or not outside.any():
        return
    ax.fill_between(
        prediction.time,
        0.0,
        0.035,
        where=outside,
        step="mid",
        transform=ax.get_xaxis_transform(),
        color=OUTSIDE,
        lw=0,
        label="outside of the training data",
    )
