"""How the fitted system behaves, printed: responses, static curve, poles and slices, with bands."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prssm.models.estimator import Estimator
from prssm.models.functions.linearise import Linearised
from prssm.models.functions.slices import TransitionSlices
from prssm.models.functions.steady import StaticCurve
from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.report.colours import QUIET, TEXT
from prssm.report.fit.figures import WIDTH, finish
from prssm.report.fit.findings import MOST

NO_REST = (
    "At the mean of the training inputs the model does not come to rest: it drifts, swings or runs "
    "away. It has no step response and no static curve there."
)


def response_figure(near: Linearised, kind: str = "step") -> Figure:
    """After a step or an impulse of an input by one: a panel for each output and input."""
    response = near.step_response() if kind == "step" else near.impulse_response()
    figure, axes = _panels(near)
    for output, row in enumerate(axes):
        for column, ax in enumerate(row):
            band = response.band
            parts = (part[:, output, column] for part in (band.middle, band.low, band.high))
            _draw(ax, response.time, *parts)
            ax.set_ylabel(near.output_names[output])
            ax.set_title(f"{kind} of {near.input_names[column]}", **_TITLE)
    return _finished(figure, axes, ["time [s]" if near.dt else "step"] * axes.shape[1])


def static_figure(near: Linearised, curve: StaticCurve) -> Figure:
    """Each output at rest over each input, the others at their mean."""
    figure, axes = _panels(near)
    for output, row in enumerate(axes):
        for column, ax in enumerate(row):
            mine = curve.along(column, near.input)
            band = curve.band
            parts = (part[mine, output] for part in (band.middle, band.low, band.high))
            _draw(ax, curve.inputs[mine, column], *parts)
            ax.plot(near.input[column], near.output[output], "o", color=TEXT, ms=4)
            ax.set_ylabel(near.output_names[output])
    return _finished(figure, axes, near.input_names)


def pole_figure(near: Linearised) -> Figure:
    """Poles of the best model, and of the plausible systems around it, in the unit circle."""
    figure = Figure(figsize=(4.8, 4.4), layout="constrained")
    ax = figure.subplots()
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color=QUIET, lw=1.0, label="limit of stability")
    others = near.pole_samples.ravel()
    ax.plot(others.real, others.imag, ".", color=PREDICTED, alpha=0.35, ms=4, label="plausible")
    ax.plot(near.poles.real, near.poles.imag, "x", color=TEXT, ms=8, label="best model")
    ax.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
    reach = 1.05 * min(max(1.0, float(np.abs(others).max(initial=0.0))), 2.0)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    return finish(figure, [ax])


def slice_figure(found: TransitionSlices) -> Figure:
    """Next states over the coordinates that move them most; marks are rows of the run."""
    states, chosen = found.most_telling()
    figure = Figure(figsize=(WIDTH, 1.9 * len(states) + 0.9), layout="constrained")
    axes = figure.subplots(len(states), len(chosen), squeeze=False, sharex="col")
    for row, state in zip(axes, states, strict=True):
        for ax, coordinate in zip(row, chosen, strict=True):
            band = found.band
            parts = (part[coordinate, :, state] for part in (band.middle, band.low, band.high))
            _draw(ax, found.grid[coordinate], *parts)
            _rug(ax, found.rug()[:, coordinate])
        row[0].set_ylabel(f"next state {state + 1}")
    return _finished(figure, axes, [found.names[coordinate] for coordinate in chosen])


def _rug(ax: Axes, at: np.ndarray) -> None:
    """A short mark along the bottom for each value, as one line with gaps: small in a file."""
    ends = np.repeat(at, 3)
    heights = np.tile([0.0, 0.05, np.nan], len(at))
    below = ax.get_xaxis_transform()
    ax.plot(ends, heights, color=MEASURED, lw=0.8, transform=below, label="rows of the run")


_TITLE = {"fontsize": 9, "color": TEXT, "parse_math": False}


def _panels(near: Linearised) -> tuple[Figure, np.ndarray]:
    rows = min(MOST, len(near.output_names))
    columns = min(MOST, len(near.input_names))
    figure = Figure(figsize=(WIDTH, 2.2 * rows + 0.9), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _finished(figure: Figure, axes: np.ndarray, below: Sequence[str]) -> Figure:
    """The common style, and a label below each column."""
    finish(figure, list(axes.ravel()))
    for ax, label in zip(axes[-1], below, strict=False):
        ax.set_xlabel(label, parse_math=False)
    return figure


def _draw(ax: Axes, at: np.ndarray, middle: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    ax.fill_between(at, low, high, color=PREDICTED, alpha=0.22, lw=0, label="95 of 100 systems")
    ax.plot(at, middle, color=PREDICTED, lw=1.5, label="middle")
    ax.margins(x=0)


def in_words(near: Linearised) -> str:
    inputs = ", ".join(_valued(near.input_names, near.input))
    outputs = ", ".join(_valued(near.output_names, near.output))
    slowest = float(np.abs(near.poles[0]))
    text = f"At {inputs}, the mean of training, the model rests at {outputs}. "
    if slowest < 1.0:
        steps = -1.0 / np.log(max(slowest, 1e-9))
        lasting = f"{steps * near.dt:.3g} s" if near.dt else f"{steps:.3g} steps"
        text += f"Its slowest pole is {slowest:.4g}, a time constant of {lasting}. "
    else:
        text += f"There it is not stable: its largest pole is {slowest:.4g}. "
    text += (
        "The bands come from systems that the data allow, each at its own point of rest, and are "
        "widened by the calibration of the model's band. Neither they nor the curves hold where "
        "training has not been. "
    )
    if max(len(near.input_names), len(near.output_names)) > MOST:
        text += f"The first {MOST} inputs and outputs are shown. "
    return text


def without_dead_times(model: Estimator) -> str:
    """That responses leave out the dead time of a step of preprocessing; '' where there is none."""
    late = model.preprocessing_.dead_times
    if not late:
        return ""
    return (
        "Step and impulse responses leave the dead time out, which preprocessing takes from the "
        f"data before the model sees them: outputs answer later than drawn, by {', '.join(late)}."
    )


def _valued(names: tuple[str, ...], values: np.ndarray) -> list[str]:
    return [f"{name} = {value:.4g}" for name, value in zip(names, values, strict=True)][:MOST]
