"""Figures that put a run in context: its inputs, the plain models beside it, error over time."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from prssm.evaluation.comparison import Run, ScoreRow
from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.prediction.prediction import Prediction
from prssm.report.colours import OTHERS, QUIET
from prssm.report.fit.figures import MAX_PANELS, finish, panels, time_label


def inputs(prediction: Prediction) -> Figure:
    """The inputs of a run; rows beyond what training saw are shaded."""
    assert prediction.inputs is not None  # the caller shows this figure only where there are some
    count = min(prediction.inputs.shape[1], MAX_PANELS)
    figure, axes = panels(count, 1.3)
    for i, ax in enumerate(axes):
        ax.plot(prediction.time, prediction.inputs[:, i], color=MEASURED, lw=1.0, label="input")
        if prediction.inputs_outside is not None and prediction.inputs_outside.any():
            ax.fill_between(
                prediction.time,
                *ax.get_ylim(),
                where=prediction.inputs_outside,
                color="#b3261e",
                alpha=0.15,
                lw=0,
                label="outside the training range",
            )
        ax.set_ylabel(prediction.input_names[i])
        ax.set_xlabel(time_label(prediction))
        ax.margins(x=0)
    return finish(figure, axes)


def beside_others(prediction: Prediction, others: Sequence[ScoreRow], label: str) -> Figure:
    """The run of the model and those of others over the same record, without bands."""
    count = min(prediction.mean.shape[1], MAX_PANELS)
    figure, axes = panels(count, 2.2 if count == 1 else 1.6)
    for output, ax in enumerate(axes):
        if prediction.measured is not None:
            measured = prediction.measured[:, output]
            ax.plot(prediction.time, measured, color=MEASURED, lw=1.0, label="measured")
        for row, color in zip(others, OTHERS, strict=False):
            other = row.predictions[0].mean[:, output]
            ax.plot(prediction.time, other, color=color, lw=1.0, ls="--", label=row.label)
        ax.plot(prediction.time, prediction.mean[:, output], color=PREDICTED, lw=1.4, label=label)
        ax.set_ylabel(prediction.output_names[output])
        ax.set_xlabel(time_label(prediction))
        ax.margins(x=0)
    return finish(figure, axes)


def error_by_horizon(run: Run, others: Sequence[ScoreRow], y_std: np.ndarray, label: str) -> Figure:
    """Root mean square error over the first k rows of the runs, for every k.

    Each output counts in units of its deviation in training.
    """
    figure, (ax,) = panels(1, 2.4)
    curve = errors_up_to(run.predictions, y_std)
    steps = np.arange(1, len(curve) + 1)
    for row, color in zip(others, OTHERS, strict=False):
        ax.plot(steps, errors_up_to(row.predictions, y_std), color=color, ls="--", label=row.label)
    ax.plot(steps, curve, color=PREDICTED, lw=2.0, label=label)
    warmup = max(prediction.warmup for prediction in run.predictions)
    if warmup:
        ax.axvspan(1, warmup, color=QUIET, alpha=0.25, lw=0, label="seen samples")
    ax.set(xlabel="rows from the start", ylabel="RMSE up to there")
    if len(curve) > 200:
        ax.set_xscale("log")
    ax.set_ylim(bottom=0.0)
    ax.margins(x=0)
    return finish(figure, [ax])


def errors_up_to(predictions: Sequence[Prediction], y_std: np.ndarray) -> np.ndarray:
    """RMSE over the first k rows of all runs that are so long, k = 1 .. the longest."""
    longest = max(map(len, predictions))
    squares = np.zeros(longest)
    counts = np.zeros(longest)
    for prediction in predictions:
        assert prediction.measured is not None
        error = (prediction.measured - prediction.mean) / y_std
        known = np.isfinite(error)
        squares[: len(error)] += np.sum(np.where(known, error, 0.0) ** 2, axis=1)
        counts[: len(error)] += known.sum(axis=1)
    total = np.cumsum(counts)
    return np.sqrt(np.cumsum(squares) / np.where(total > 0.0, total, np.nan))
