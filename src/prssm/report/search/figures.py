"""The figures of a search: the score against each option, and its course."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.search.choice import CRITERIA
from prssm.evaluation.search.search import Found
from prssm.evaluation.search.space import Dimension, Range
from prssm.evaluation.search.trial import shown
from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.report.colours import QUIET, TEXT
from prssm.report.fit.figures import WIDTH, finish
from prssm.report.tables import METRICS

COLUMNS = 3
MANY_VALUES = 12  # numbers on an axis of their own; fewer are told apart like words
# a worst score that is so many times the best squeezes all others: then the axis is logarithmic
SPREAD = 20.0


def draw_search(found: Found) -> Figure:
    """One figure with all panels: the course on top, then a panel for each option."""
    tried = [record for record in found.records if not record["baseline"]]
    columns = min(COLUMNS, len(found.space))
    rows = -(-len(found.space) // columns)
    figure = Figure(figsize=(WIDTH, 3.0 + 2.6 * rows), layout="constrained")
    places = figure.add_gridspec(1 + rows, columns, height_ratios=[1.15, *([1.0] * rows)])
    course = figure.add_subplot(places[0, :])
    panels = [
        figure.add_subplot(places[1 + i // columns, i % columns]) for i in range(len(found.space))
    ]
    for ax in (course, *panels):
        _score_axis(ax, tried, found.by)
    _course(course, tried, found)
    for i, (ax, dimension) in enumerate(zip(panels, found.space, strict=True)):
        _against(
            ax, dimension, [record for record in tried if record["outcome"] == OK], by=found.by
        )
        ax.set_ylabel(_score_name(found.by) if i % columns == 0 else "")
    for ax in (course, *panels):
        finish(figure, [ax], legend=False)
    course.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT, ncols=5)
    return figure


def _score_name(by: str) -> str:
    return f"held-out {METRICS[CRITERIA[by][0]].title}"


def _score(record: Mapping[str, Any], by: str) -> float:
    return record["metrics"][CRITERIA[by][0]]


def _score_axis(ax: Axes, tried: Sequence[Mapping[str, Any]], by: str) -> None:
    values = [_score(record, by) for record in tried if record["outcome"] == OK]
    if values and min(values) > 0 and max(values) > SPREAD * min(values):
        ax.set_yscale("log")


def _course(ax: Axes, tried: Sequence[Mapping[str, Any]], found: Found) -> None:
    """Each trial where it ended, the best so far, and the plain models as lines to beat."""
    better = min if CRITERIA[found.by][1] > 0 else max
    numbers = [i + 1 for i, record in enumerate(tried) if record["outcome"] == OK]
    scores = [_score(record, found.by) for record in tried if record["outcome"] == OK]
    ax.plot(numbers, scores, "o", color=MEASURED, ms=4, alpha=0.7, label="trial")
    if scores:
        best = [better(scores[: i + 1]) for i in range(len(scores))]
        ax.step(
            [*numbers, len(tried)],
            [*best, best[-1]],
            where="post",
            color=PREDICTED,
            lw=1.6,
            label="best so far",
        )
    lost = [i + 1 for i, record in enumerate(tried) if record["outcome"] != OK]
    if lost:
        ax.plot(
            lost,
            [0.02] * len(lost),
            "x",
            color=TEXT,
            ms=5,
            label="stopped or failed",
            clip_on=False,
            transform=ax.get_xaxis_transform(),
        )
    _show_plain(
        ax, [r for r in found.records if r["baseline"] and r["outcome"] == OK], scores, by=found.by
    )
    ax.set(
        xlabel="trials, in the order in which they ended",
        ylabel=_score_name(found.by),
        xlim=(0.5, len(tried) + 0.5),
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _show_plain(
    ax: Axes, plain: Sequence[Mapping[str, Any]], scores: Sequence[float], by: str
) -> None:
    """Lines for the plain models.

    One far from all trials is named with its score, and does not squeeze the rest.
    """
    low, high = (min(scores), max(scores)) if scores else (np.inf, -np.inf)
    reach = high - low if high > low else abs(high)  # no score: nothing is near
    near = [
        value
        for value in (_score(record, by) for record in plain)
        if low - reach <= value <= high + reach
    ]
    for record, style in zip(plain, ("--", ":"), strict=False):
        ax.axhline(
            _score(record, by),
            color=QUIET,
            ls=style,
            lw=1.2,
            label=f"{record['label']}: {_score(record, by):.3g}",
        )
    shown_values = [*scores, *near]
    if shown_values:
        log = ax.get_yscale() == "log"
        bottom, top = (
            math.log(end) if log else end for end in (min(shown_values), max(shown_values))
        )
        room = (top - bottom) or abs(top) or 1.0
        limits = (bottom - 0.12 * room, top + 0.25 * room)  # the legend stands on top
        ax.set_ylim(*(math.exp(end) if log else end for end in limits))


def _against(
    ax: Axes, dimension: Dimension, finished: Sequence[Mapping[str, Any]], by: str
) -> None:
    """Scores of the finished trials over one option's values, with medians where these are few."""
    name = dimension.name
    points = [
        (record["params"][name], _score(record, by))
        for record in finished
        if name in record["params"]
    ]
    ax.set_xlabel(name)
    values = _ordered({value for value, _ in points})
    if isinstance(dimension, Range) and (len(values) > MANY_VALUES or not dimension.whole):
        ax.plot(
            [value for value, _ in points],
            [score for _, score in points],
            "o",
            color=MEASURED,
            ms=4,
            alpha=0.7,
        )
        ax.set_xscale("log" if dimension.log else "linear")
        return
    jitter = np.linspace(-0.12, 0.12, 5)
    for place, value in enumerate(values):
        scores = [score for mine, score in points if mine == value]
        ax.plot(
            place + jitter[np.arange(len(scores)) % 5], scores, "o", color=MEASURED, ms=4, alpha=0.7
        )
        ax.plot(
            [place - 0.3, place + 0.3], [statistics.median(scores)] * 2, color=PREDICTED, lw=1.8
        )
    long = max((len(shown(value)) for value in values), default=0) * len(values) > 26
    slanted: dict[str, Any] = (
        {"rotation": 18, "ha": "right", "rotation_mode": "anchor"} if long else {}
    )
    ax.set_xticks(range(len(values)), [shown(value) for value in values], **slanted)
    ax.set_xlim(-0.6, len(values) - 0.4)


def _ordered(values: set[Any]) -> list[Any]:
    numbers = [
        value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return [*sorted(numbers), *sorted((value for value in values if value not in numbers), key=str)]
