"""The figures of the report: functions from results to a matplotlib Figure.

No global state is touched.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from prssm.evaluation.comparison import Run
from prssm.prediction.plot import MEASURED, PREDICTED, plot_output
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals
from prssm.report.colours import GRID, QUIET, TEXT
from prssm.report.fit.calibration import LEVELS, coverage_curve
from prssm.report.limits import limits
from prssm.training.log import DIVERGED, TrainingLog

WIDTH = 9.0
MAX_PANELS = 8  # more outputs or states than this make no readable figure


def panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """A column of panels that share their time axis."""
    figure = Figure(figsize=(WIDTH, max(height * count + 0.7, 2.4)), layout="constrained")
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    return figure, list(axes)


def finish(figure: Figure, axes: Sequence[Axes], legend: bool = True) -> Figure:
    """Quiet frames and grids, aligned labels, one legend above all panels."""
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(QUIET)
        ax.tick_params(colors=TEXT, labelsize=9, length=3)
        ax.grid(True, color=GRID, lw=0.6)
        ax.set_axisbelow(True)
        for label in (ax.xaxis.label, ax.yaxis.label):
            label.set(size=10, color=TEXT, parse_math=False)
    for ax in axes[:-1]:
        ax.set_xlabel("")
    if len(axes) > 1:  # every label looks at the ticks of all the others, again and again
        figure.align_ylabels(list(axes))
    if legend:
        legend_above(figure, *axes[0].get_legend_handles_labels())
    return figure


def legend_above(figure: Figure, handles: Sequence[Artist], words: Sequence[str]) -> None:
    """One line of words above all panels."""
    legend = figure.legend(
        handles,
        words,
        loc="outside upper left",
        ncols=len(words),
        frameon=False,
        fontsize=9,
        labelcolor=TEXT,
    )
    for text in legend.get_texts():  # a name may hold a dollar sign
        text.set_parse_math(False)


def free_run(prediction: Prediction, rows: int | None = None) -> Figure:
    """Measured and simulated outputs with the two-sigma band; the first `rows` only, if given."""
    count = min(prediction.mean.shape[1], MAX_PANELS)
    figure, axes = panels(count, 2.5 if count == 1 else 1.7)
    last = len(prediction) if rows is None else min(rows, len(prediction))
    for output, ax in enumerate(axes):
        plot_output(prediction, output, ax)
        ax.set_xlim(prediction.time[0], prediction.time[last - 1])
        mean = prediction.mean[:last, output]
        lines = (
            [mean] if prediction.measured is None else [mean, prediction.measured[:last, output]]
        )
        _limit(ax, np.concatenate(lines), mean, reach=2 * prediction.std[:last, output], most=0.6)
    return finish(figure, axes)


def _limit(ax: Axes, lines: np.ndarray, centre: np.ndarray, reach: np.ndarray, most: float) -> None:
    """Leaves room for the lines and for the band `centre` +- `reach`, within limits."""
    found = limits(lines, centre - reach, centre + reach, most=most)
    if found is not None:
        ax.set_ylim(*found)


def residuals(prediction: Prediction) -> Figure:
    """Measured minus simulated, with the band in which 95 of 100 should lie."""
    assert prediction.measured is not None  # a run that was scored
    count = min(prediction.mean.shape[1], MAX_PANELS)
    figure, axes = panels(count, 1.9 if count == 1 else 1.4)
    for output, ax in enumerate(axes):
        error = prediction.measured[:, output] - prediction.mean[:, output]
        reach = 2 * prediction.std[:, output]
        ax.fill_between(
            prediction.time, -reach, reach, color=PREDICTED, alpha=0.22, lw=0, label="± 2 std"
        )
        ax.plot(prediction.time, error, color=MEASURED, lw=0.9, label="measured minus simulated")
        ax.axhline(0.0, color=QUIET, lw=0.8)
        ax.set_ylabel(prediction.output_names[output])
        ax.set_xlabel(time_label(prediction))
        ax.margins(x=0)
        _limit(ax, error, np.zeros(len(error)), reach=reach, most=2.0)
    return finish(figure, axes)


def calibration(runs: Sequence[Run]) -> Figure:
    """Promised against observed coverage; the diagonal is a band that one can trust."""
    figure = Figure(figsize=(4.8, 4.4), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], color=QUIET, lw=1.2, ls="--", label="ideal")
    for run, (color, width) in zip(runs, ((PREDICTED, 2.0), (MEASURED, 1.2)), strict=False):
        ax.plot(LEVELS, coverage_curve(run.predictions), color=color, lw=width, label=run.label)
    ax.set(
        xlabel="promised share inside the band",
        ylabel="observed share",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
    )
    ax.text(0.97, 0.06, "too narrow", ha="right", color=QUIET, size=9)
    ax.text(0.03, 0.92, "too wide", color=QUIET, size=9)
    return finish(figure, [ax])


def correlations(residuals: Residuals) -> Figure:
    """Errors one step ahead with themselves and with every input, and a perfect model's bands.

    An output is a column of panels.
    """
    outputs = min(residuals.autocorrelation.shape[1], MAX_PANELS)
    inputs = min(residuals.cross_correlation.shape[2], MAX_PANELS)
    rows = 1 + inputs
    figure = Figure(figsize=(WIDTH, 1.7 * rows + 0.7), layout="constrained")
    axes = figure.subplots(rows, outputs, squeeze=False, sharey="row")
    for output in range(outputs):
        own = residuals.autocorrelation[:, output], residuals.autocorrelation_band[:, output]
        _bars(axes[0, output], *own, first=1)
        title = residuals.output_names[output]
        axes[0, output].set_title(title, size=10, color=TEXT, parse_math=False)
        for i in range(inputs):
            cross = residuals.cross_correlation[:, output, i]
            band = residuals.cross_correlation_band[:, output, i]
            _bars(axes[1 + i, output], cross, band, first=0)
    axes[0, 0].set_ylabel("with itself")
    for i in range(inputs):
        axes[1 + i, 0].set_ylabel(f"with {residuals.input_names[i]}")
    for ax in axes[-1]:
        ax.set_xlabel("lag in steps")
    finish(figure, list(axes.ravel()), legend=False)
    for ax in axes[-1]:
        ax.set_xlabel("lag in steps")
    return figure


def _bars(ax: Axes, values: np.ndarray, band: np.ndarray, first: int) -> None:
    """Correlations by lag over the band of a perfect model; those beyond it stand out."""
    lag = first + np.arange(len(values))
    ax.fill_between(lag, -band, band, color=QUIET, alpha=0.25, lw=0, step="mid")
    beyond = np.abs(values) > band
    ax.bar(lag, values, width=0.55, color=np.where(beyond, PREDICTED, MEASURED))
    ax.axhline(0.0, color=QUIET, lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(-0.7, lag[-1] + 0.7)
    reach = 1.15 * max(float(np.abs(values).max()), float(band.max()))
    bottom, top = ax.get_ylim()
    ax.set_ylim(min(bottom, -reach), max(top, reach))


def latent_states(prediction: Prediction) -> Figure:
    """The simulated latent states with their two-sigma band, in the model's own units."""
    mean = prediction.state_mean
    std = prediction.state_std
    assert mean is not None  # the caller shows this figure only where there are states
    figure, axes = panels(min(mean.shape[1], MAX_PANELS), 1.25)
    for state, ax in enumerate(axes):
        ax.plot(prediction.time, mean[:, state], color=MEASURED, lw=1.2, label="mean")
        if std is not None:
            low = mean[:, state] - 2 * std[:, state]
            high = mean[:, state] + 2 * std[:, state]
            ax.fill_between(
                prediction.time, low, high, color=MEASURED, alpha=0.2, lw=0, label="± 2 std"
            )
            _limit(ax, mean[:, state], mean[:, state], reach=2 * std[:, state], most=2.0)
        ax.set_ylabel(f"state {state + 1}")
        ax.set_xlabel(time_label(prediction))
        ax.margins(x=0)
    return finish(figure, axes)


def training_curve(log: TrainingLog) -> Figure:
    """The objective of every restart; the kept one stands out."""
    figure, (ax,) = panels(1, 2.6)
    said: set[str] = set()
    for restart, curve in enumerate(log.objective):
        diverged = log.outcomes[restart].startswith(DIVERGED)
        if restart == log.kept:
            continue
        label = "diverged, dropped" if diverged else "other restarts"
        ax.plot(
            log.iteration,
            curve,
            color="#b3261e" if diverged else QUIET,
            ls=":" if diverged else "-",
            lw=1.0,
            label="_" * (label in said) + label,
        )
        said.add(label)
    ax.plot(
        log.iteration,
        log.objective[log.kept],
        color=PREDICTED,
        lw=2.0,
        label=f"kept: restart {log.kept}",
    )
    ax.set(xlabel="iteration", ylabel=log.objective_name)
    ax.margins(x=0)
    shown = settled_range(log)
    if shown is not None:
        ax.set_ylim(*shown)
    return finish(figure, [ax])


def settled_range(log: TrainingLog) -> tuple[float, float] | None:
    """Limits of the objective's axis; the first iterations are far below all that matters."""
    if not len(log.iteration):
        return None
    settled = log.objective[:, log.iteration >= 0.1 * log.iteration[-1]]
    settled = settled[np.isfinite(settled)]
    if not len(settled) or not np.ptp(settled) > 0:
        return None
    low = float(np.percentile(settled, 2))
    high = float(settled.max())
    return low - 0.1 * (high - low), high + 0.08 * (high - low)


def time_label(prediction: Prediction) -> str:
    """What the axis of time counts."""
    return "time [s]" if prediction.dt else "sample"
