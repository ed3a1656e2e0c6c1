"""The figures of the paper that show results, each as the named experiments it is drawn from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prssm.evaluation.benchmark.plan import Experiment, Variant
from prssm.foundation.errors import OptionError, did_you_mean

ITERATION_GRID = (0, 10, 30, 100, 300, 1000, 3000)
SHOWN_SEED = 0  # figures of single runs show the first seed, never the best


@dataclass(frozen=True)
class FigurePlan:
    """A figure of the paper: what it shows, and the experiments it is drawn from.

    `panels[title]` are the experiments of one panel or curve.
    """

    name: str
    caption: str
    panels: dict[str, list[Experiment]]

    def experiments(self) -> list[Experiment]:
        return [experiment for panel in self.panels.values() for experiment in panel]


def figure_datasets(names: Sequence[str]) -> list[str]:
    """The data sets that some figures need."""
    return list(dict.fromkeys(_known(name)[0] for name in names))


def plan_figure(
    name: str, ours: Variant, variants: Sequence[Variant], seeds: int, dataset: str | None = None
) -> FigurePlan:
    """The experiments of a figure.

    `ours` is PR-SSM with the options of this benchmark, `variants` are all its methods.
    """
    usual, caption, panels = _known(name)
    return FigurePlan(name, caption, panels(dataset or usual, ours, variants, seeds))


def _known(name: str) -> tuple[str, str, Callable[..., dict[str, list[Experiment]]]]:
    if name not in FIGURES:
        raise OptionError(f"--figures: unknown figure {name!r}.{did_you_mean(name, FIGURES)}")
    return FIGURES[name]


def _untrained_vs_trained(
    dataset: str, ours: Variant, variants: Sequence[Variant], seeds: int
) -> dict[str, list[Experiment]]:
    full = ours.changed(scheme="full")
    return {
        "untrained": [Experiment(dataset, full.changed(iterations=0), SHOWN_SEED)],
        "trained": [Experiment(dataset, full, SHOWN_SEED)],
    }


def _recognition(
    dataset: str, ours: Variant, variants: Sequence[Variant], seeds: int
) -> dict[str, list[Experiment]]:
    return {
        "without recognition model": [Experiment(dataset, ours.changed(scheme="full"), SHOWN_SEED)],
        "with recognition model": [
            Experiment(dataset, ours.changed(scheme="stochastic"), SHOWN_SEED)
        ],
    }


def _all_methods(
    dataset: str, ours: Variant, variants: Sequence[Variant], seeds: int
) -> dict[str, list[Experiment]]:
    return {variant.label: [Experiment(dataset, variant, SHOWN_SEED)] for variant in variants}


def _full_vs_stochastic(
    dataset: str, ours: Variant, variants: Sequence[Variant], seeds: int
) -> dict[str, list[Experiment]]:
    # where the preset leaves it to the data
    longest = ours.configuration()["iterations"] or ITERATION_GRID[-1]
    ours = ours.changed(restarts=1)  # the paper's are independent trainings
    grid = sorted({count for count in ITERATION_GRID if count < longest} | {longest})
    return {
        scheme: [
            Experiment(dataset, ours.changed(scheme=scheme, iterations=count), seed)
            for count in grid
            for seed in range(seeds)
        ]
        for scheme in ("full", "stochastic")
    }


FIGURES: dict[str, tuple[str, str, Callable[..., dict[str, list[Experiment]]]]] = {
    "untrained-vs-trained": (
        "furnace",
        "PR-SSM before and after training with the full gradient, no recognition model",
        _untrained_vs_trained,
    ),
    "recognition": (
        "furnace",
        "The start of a free run without and with recognition model",
        _recognition,
    ),
    "drives-methods": ("drives", "Free run of every method on the test part", _all_methods),
    "full-vs-stochastic": (
        "drives",
        "Full against stochastic gradient over iterations: mean and range over seeds",
        _full_vs_stochastic,
    ),
}
