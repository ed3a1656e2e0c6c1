"""One picture of one simulated output.

It works on the Figure object, so no global pyplot state is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from prssm.prediction.prediction import Prediction

MEASURED = "#1f4e79"
PREDICTED = "#d1581c"
OUTSIDE = "#a3231c"


def plot_output(prediction: Prediction, output: int = 0, ax: Axes | None = None) -> Axes:
    """Measured values, mean and two-sigma band.

    The rows that the model has seen are shaded, those outside of its training data are marked.
    """
    ax = Figure(figsize=(9, 3), layout="constrained").subplots() if ax is None else ax
    time = prediction.time
    mean = prediction.mean[:, output]
    std = prediction.std[:, output]
    if prediction.measured is not None:
        ax.plot(time, prediction.measured[:, output], color=MEASURED, lw=1.1, label="measured")
    ax.plot(time, mean, color=PREDICTED, lw=1.2, label=prediction.label)
    ax.fill_between(
        time, mean - 2 * std, mean + 2 * std, color=PREDICTED, alpha=0.22, lw=0, label="± 2 std"
    )
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
