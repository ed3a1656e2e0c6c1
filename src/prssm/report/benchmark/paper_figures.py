"""The paper's figures that show results, drawn from recorded experiments.

Nothing is trained here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prssm.evaluation.benchmark.figure_plans import FigurePlan
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.jobs.results import Results
from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.report.colours import QUIET, TEXT
from prssm.report.fit.figures import WIDTH, finish, legend_above

START_STEPS = 60  # what the figure of the recognition model shows
Arrays = Mapping[str, np.ndarray]


def draw(plan: FigurePlan, results: Results) -> Figure:
    """The figure of a plan, from what is recorded; a panel whose experiment failed says why."""
    return DRAWINGS[plan.name](plan, results)


def _latent_and_output(plan: FigurePlan, results: Results, steps: int | None = None) -> Figure:
    """For each panel of the plan a column: latent states above, output below."""
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes = figure.subplots(2, len(plan.panels), squeeze=False, sharex=True, sharey="row")
    for column, (title, (experiment,)) in enumerate(plan.panels.items()):
        upper, lower = axes[:, column]
        upper.set_title(title, size=10, color=TEXT)
        arrays = _arrays_or_reason(experiment, results, lower)
        if arrays:
            _states(upper, arrays, steps)
            _sample_paths(lower, arrays, steps)
            _output(lower, arrays, steps)
    axes[0, 0].set_ylabel("latent states")
    return _finished(figure, axes)


def _start_of_run(plan: FigurePlan, results: Results) -> Figure:
    return _latent_and_output(plan, results, START_STEPS)


def _small_multiples(plan: FigurePlan, results: Results) -> Figure:
    """One small panel a method, all with the same axes."""
    count = len(plan.panels)
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = Figure(figsize=(WIDTH, 1.9 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax, (title, (experiment,)) in zip(axes.flat, plan.panels.items(), strict=False):
        arrays = _arrays_or_reason(experiment, results, ax)
        rmse = (
            f", RMSE {results.records[experiment.key]['metrics']['test']['rmse']:.3f}"
            if arrays
            else ""
        )
        ax.set_title(f"{title}{rmse}", size=10, color=TEXT)
        if arrays:
            _output(ax, arrays, None, keep_limits=True)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return _finished(figure, axes)


def _over_iterations(plan: FigurePlan, results: Results) -> Figure:
    """RMSE and negative log-likelihood over iterations: mean and range over seeds.

    Training solid, test dotted.
    """
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.subplots(1, 2, squeeze=False)
    shown = (
        ("rmse", 1.0, "RMSE of the free run"),
        ("log_likelihood_scaled", -1.0, "negative log-likelihood per sample"),
    )
    for ax, (metric, sign, label) in zip(axes.flat, shown, strict=True):
        for (scheme, experiments), color in zip(
            plan.panels.items(), (MEASURED, PREDICTED), strict=True
        ):
            for part, style in (("train", "-"), ("test", ":")):
                curve = _curve(experiments, results, part, metric=metric, sign=sign)
                ax.plot(curve[0], curve[1], style, color=color, lw=1.6, label=f"{scheme}, {part}")
                ax.fill_between(curve[0], curve[2], curve[3], color=color, alpha=0.12, lw=0)
        ax.set(xlabel="iterations", ylabel=label)
        ax.margins(x=0)
        _limit_to_most(ax)
    return _finished(figure, axes)


def _curve(
    experiments: Sequence[Experiment], results: Results, part: str, metric: str, sign: float
) -> np.ndarray:
    """Rows: iterations, mean, lowest, highest over the seeds that ended well."""
    values: dict[int, list[float]] = {}
    for experiment in experiments:
        record = results.records.get(experiment.key)
        if record is not None and record["outcome"] == OK:
            values.setdefault(record["configuration"]["iterations"], []).append(
                sign * record["metrics"][part][metric]
            )
    columns = [(count, np.mean(v), min(v), max(v)) for count, v in sorted(values.items())]
    return np.array(columns, dtype=float).reshape(-1, 4).T


def _limit_to_most(ax: Axes) -> None:
    """A log-likelihood can fall without bound; the axis shows nine tenths of the curves' points."""
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    if len(values) > 1:
        low = values.min()
        high = np.percentile(values, 90)
        margin = 0.15 * (high - low) + 1e-9
        ax.set_ylim(low - margin, high + margin)


def _arrays_or_reason(experiment: Experiment, results: Results, ax: Axes) -> Arrays:
    """The stored arrays of an experiment that ended well; else the panel says what happened."""
    record: dict[str, Any] = results.records.get(
        experiment.key, {"outcome": "not run", "reason": None}
    )
    arrays = results.arrays(experiment.key) if record["outcome"] == OK else {}
    if arrays:
        return arrays
    text = f"{record['outcome']}\n{record['reason'] or 'nothing stored to draw'}"[:160]
    ax.text(
        0.5,
        0.5,
        text,
        transform=ax.transAxes,
        ha="center",
        va="center",
        size=8,
        color=TEXT,
        wrap=True,
        parse_math=False,
    )
    return {}


def _output(ax: Axes, arrays: Arrays, steps: int | None, keep_limits: bool = False) -> None:
    """Measured output, mean and band of the first output of the first test run."""
    time = arrays["test0.time"][:steps]
    measured = arrays["test0.measured"][:steps, 0]
    mean = arrays["test0.mean"][:steps, 0]
    std = arrays["test0.std"][:steps, 0]
    ax.fill_between(
        time, mean - 2 * std, mean + 2 * std, color=PREDICTED, alpha=0.25, lw=0, label="± 2 std"
    )
    ax.plot(time, measured, color=MEASURED, lw=1.1, label="measured")
    ax.plot(time, mean, color=PREDICTED, lw=1.2, label="free simulation")
    ax.set(xlabel="time [s]" if "test0.dt" in arrays else "sample", ylabel="output")
    ax.margins(x=0)
    if keep_limits:  # the measured range and half of it on either side, the same in all panels
        low = np.nanmin(measured)
        high = np.nanmax(measured)
        ax.set_ylim(low - 0.5 * (high - low), high + 0.5 * (high - low))


def _sample_paths(ax: Axes, arrays: Arrays, steps: int | None) -> None:
    for path in arrays.get("test0.samples", np.zeros((0, 0, 1)))[:, :steps, 0]:
        ax.plot(arrays["test0.time"][:steps], path, color=QUIET, lw=0.5, alpha=0.6)


def _states(ax: Axes, arrays: Arrays, steps: int | None) -> None:
    """Mean and band of the latent states; the first has the output's colour, as it drives it."""
    if "test0.state_mean" not in arrays:
        return
    time = arrays["test0.time"][:steps]
    mean = arrays["test0.state_mean"][:steps]
    std = arrays.get("test0.state_std", np.zeros_like(arrays["test0.state_mean"]))[:steps]
    for state, color in zip(
        range(mean.shape[1]), (PREDICTED, MEASURED, "#4d8f5b", "#8a5a9e", QUIET), strict=False
    ):
        ax.plot(time, mean[:, state], color=color, lw=1.1)
        ax.fill_between(
            time,
            mean[:, state] - 2 * std[:, state],
            mean[:, state] + 2 * std[:, state],
            color=color,
            alpha=0.15,
            lw=0,
        )
    ax.margins(x=0)


def _finished(figure: Figure, axes: Any) -> Figure:
    """The house style, one legend above all, axis labels only at the outer panels."""
    labels = {ax: (ax.get_xlabel(), ax.get_ylabel()) for ax in axes.flat}
    finish(figure, list(axes.flat), legend=False)
    for i, j in np.ndindex(axes.shape):
        x_label, y_label = labels[axes[i, j]]
        repeated = j > 0 and y_label == labels[axes[i, 0]][1]
        axes[i, j].set_xlabel(x_label if i == axes.shape[0] - 1 else "")
        axes[i, j].set_ylabel("" if repeated else y_label)
    handles, words = next(
        (found for ax in axes.flat if (found := ax.get_legend_handles_labels())[0]), ([], [])
    )
    if handles:
        legend_above(figure, handles, words)
    return figure


DRAWINGS: dict[str, Callable[[FigurePlan, Results], Figure]] = {
    "untrained-vs-trained": _latent_and_output,
    "recognition": _start_of_run,
    "drives-methods": _small_multiples,
    "full-vs-stochastic": _over_iterations,
}
