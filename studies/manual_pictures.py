"""The pictures of the page that explains the model in plain words.

    python studies/manual_pictures.py --out docs/figures

A function that is learnt from points, a state that nobody measures, draws that become a band, and
a band that is widened until it holds. Some seconds; nothing is read but simulators.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import prssm
from prssm.data.simulators import simulate_with_truth

_BLUE = "tab:blue"
_DPI = 90
_SMALL = {"complexity": "free", "iterations": 400, "restarts": 2, "fold_restarts": 1}


def posterior(
    x: np.ndarray, y: np.ndarray, at: np.ndarray, *, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of a Gaussian process with unit scales, given points."""

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * (a[:, None] - b[None, :]) ** 2)

    gram = kernel(x, x) + noise**2 * np.eye(len(x))
    cross = kernel(at, x)
    mean = cross @ np.linalg.solve(gram, y)
    variance = 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))
    return mean, np.sqrt(np.maximum(variance, 0.0))


def a_function_with_a_band() -> Figure:
    """The same few points, once more points: the band is narrow where there are some."""
    figure = Figure(figsize=(8.0, 2.8), dpi=_DPI, layout="constrained")
    at = np.linspace(-1.0, 8.0, 200)
    rng = np.random.default_rng(3)
    for ax, count in zip(figure.subplots(1, 2, sharey=True), (4, 14), strict=True):
        x = np.sort(rng.uniform(0.0, 5.5, count))
        y = np.sin(1.3 * x) + 0.05 * rng.normal(size=count)
        mean, std = posterior(x, y, at, noise=0.05)
        ax.fill_between(at, mean - 2 * std, mean + 2 * std, color=_BLUE, alpha=0.2, lw=0)
        ax.plot(at, mean, color=_BLUE)
        ax.plot(at, np.sin(1.3 * at), color="black", ls="--", lw=0.8)
        ax.plot(x, y, "o", color="black", ms=4)
        ax.set_title(f"after {count} points", fontsize=10)
        ax.set_xlabel("where we are")
    figure.axes[0].set_ylabel("what happens next")
    return figure


def a_state_that_nobody_measures() -> Figure:
    """The lower tank hangs on the upper one, which the log does not have."""
    (trajectory,) = simulate_with_truth("tanks_sim", length=150, seed=4)
    figure = Figure(figsize=(8.0, 3.4), dpi=_DPI, layout="constrained")
    upper, middle, lower = figure.subplots(3, 1, sharex=True)
    time = np.arange(150) * (trajectory.record.dt or 1.0)
    upper.step(time, trajectory.record.u[:, 0], color="tab:green", where="post")
    _label(upper, "input: pump")
    middle.plot(time, trajectory.states[:, 0], color="0.5", ls="--")
    _label(middle, "state: upper tank (not in the log)")
    lower.plot(time, trajectory.record.y[:, 0], color="black")
    _label(lower, "output: lower tank")
    lower.set_xlabel("seconds")
    return figure


def _label(ax: Axes, text: str) -> None:
    ax.set_title(text, fontsize=9, loc="left", pad=2)
    ax.margins(x=0.0)


def draws_become_a_band() -> Figure:
    """Some trajectories of one run, and the band that all of them make."""
    train, test = prssm.datasets.load("tanks_sim")
    run = prssm.PRSSM(**_SMALL, folds=0).fit(train[:300]).simulate(test[:250], samples=100)
    assert run.samples is not None
    figure = Figure(figsize=(8.0, 2.8), dpi=_DPI, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    smooth = np.ones(5) / 5.0  # the sensors' noise would hide the trajectories
    for sample in run.samples[:12, :, 0]:
        left.plot(run.time[2:-2], np.convolve(sample, smooth, "valid"), color=_BLUE, lw=0.6)
    left.set_title("twelve futures that the data allow", fontsize=10)
    lower, upper = run.interval(0.95)
    right.fill_between(run.time, lower[:, 0], upper[:, 0], color=_BLUE, alpha=0.25, lw=0)
    right.plot(run.time, run.mean[:, 0], color=_BLUE)
    right.plot(run.time, run.measured[:, 0], color="black", ls="--", lw=0.9)
    right.set_title("their mean and band; dashed: measured", fontsize=10)
    for ax in (left, right):
        ax.set_xlabel("seconds")
        ax.margins(x=0.0)
    left.set_ylabel("level")
    return figure


def a_band_that_is_calibrated() -> Figure:
    """Errors on a held-out stretch, the model's own band, and the one that holds its share."""
    rng = np.random.default_rng(0)
    errors = np.convolve(rng.normal(size=240), np.ones(6) / np.sqrt(6.0), "valid")
    own = 0.6  # a model that is too sure of itself
    factor = np.quantile(np.abs(errors), 0.95) / (1.96 * own)
    figure = Figure(figsize=(8.0, 2.4), dpi=_DPI, layout="constrained")
    ax = figure.subplots()
    for width, shade, name in (
        (own, 0.35, "the model's own band"),
        (factor * own, 0.15, "widened"),
    ):
        held = np.mean(np.abs(errors) < 1.96 * width)
        ax.axhspan(-1.96 * width, 1.96 * width, color=_BLUE, alpha=shade, lw=0)
        ax.plot([], [], color=_BLUE, alpha=2 * shade, lw=6, label=f"{name}: holds {held:.0%}")
    ax.plot(errors, color="black", lw=0.9, label="errors on rows that were held out")
    ax.set_ylim(-4.2, 4.2)
    ax.margins(x=0.0)
    ax.set_xlabel("row")
    ax.legend(loc="upper center", ncols=3, fontsize=8, frameon=False)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "plain-function": a_function_with_a_band,
    "plain-state": a_state_that_nobody_measures,
    "plain-draws": draws_become_a_band,
    "plain-calibration": a_band_that_is_calibrated,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        picture().savefig(options.out / f"{name}.png")


if __name__ == "__main__":
    main()
