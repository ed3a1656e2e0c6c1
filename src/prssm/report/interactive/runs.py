"""Runs over time that a reader can explore: outputs with bands, inputs, errors, states.

A run is a `Prediction`: a free run, a prediction some rows ahead, or an estimate. Several models
over one record are a mapping from label to run; the first one leads.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, Range1d
from bokeh.models.layouts import LayoutDOM
from bokeh.models.ranges import Range
from bokeh.plotting import figure

from prssm.data.record import Record
from prssm.prediction.plot import MEASURED, OUTSIDE, PREDICTED
from prssm.prediction.prediction import Prediction
from prssm.report.colours import QUIET
from prssm.report.fit.figures import MAX_PANELS, time_label
from prssm.report.interactive.panels import (
    colours,
    hide_together,
    hover,
    legend,
    panel,
    stacked,
)
from prssm.report.interactive.thinning import ROWS, kept_rows, marked_spans
from prssm.report.limits import limits

SEEN_WORDS = "seen samples"
OUTSIDE_WORDS = "outside of the training data"


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a panel, with its band where it has one, (T,) each."""

    label: str
    values: np.ndarray
    colour: str
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    dash: str = "solid"

    @property
    def columns(self) -> list[np.ndarray]:
        return [part for part in (self.values, self.low, self.high) if part is not None]


@dataclass(frozen=True, eq=False)
class Content:
    """What one panel shows: its lines over time, and stretches of rows that are marked."""

    beside: str
    lines: Sequence[Line]
    room: float = 0.6  # for bands, in ranges of the lines
    marks: Mapping[str, np.ndarray] = field(default_factory=dict)  # words: rows (T,)


def free_runs(
    runs: Mapping[str, Prediction],
    *,
    bands: Collection[str] | None = None,
    rows: int = ROWS,
    x_range: Range | None = None,
) -> LayoutDOM:
    """What was measured, and the run of each model over it, a panel for each output.

    `bands` are the labels of the models whose band is drawn, all unless told. Rows that the first
    model has seen are shaded, those where a run has left its training data are red.
    """
    first = next(iter(runs.values()))
    chosen = colours(list(runs))
    marks = _marks(runs)
    contents = []
    for output in range(min(first.mean.shape[1], MAX_PANELS)):
        lines = [
            _run_line(label, run, output, chosen[label], band=bands is None or label in bands)
            for label, run in runs.items()
        ]
        if first.measured is not None:
            lines.insert(0, Line("measured", first.measured[:, output], MEASURED))
        contents.append(Content(first.output_names[output], lines, marks=marks))
    return over_time(first.time, contents, below=time_label(first), rows=rows, x_range=x_range)


def time_range(run: Prediction) -> Range:
    """A time axis over a run, to be shared by all figures of its record."""
    return Range1d(run.time[0], run.time[-1])


def inputs(run: Prediction, *, rows: int = ROWS, x_range: Range | None = None) -> LayoutDOM:
    """The inputs of a run; rows beyond what training saw are red."""
    assert run.inputs is not None  # the caller shows this figure only where there are some
    outside = run.inputs_outside
    marks = {} if outside is None else {"outside the training range": outside}
    contents = [
        Content(run.input_names[i], [Line("input", run.inputs[:, i], MEASURED)], marks=marks)
        for i in range(min(run.inputs.shape[1], MAX_PANELS))
    ]
    below = time_label(run)
    return over_time(run.time, contents, below=below, rows=rows, x_range=x_range, height=190)


def recorded(record: Record, *, rows: int = ROWS, x_range: Range | None = None) -> LayoutDOM:
    """A recording as it came: its outputs, then its inputs."""
    named = [
        *zip(record.output_names, record.y.T, ["output"] * record.output_dim, strict=True),
        *zip(record.input_names, record.u.T, ["input"] * record.input_dim, strict=True),
    ]
    contents = [
        Content(name, [Line(word, values, MEASURED if word == "output" else QUIET)])
        for name, values, word in named
    ]
    time = np.arange(len(record)) * (record.dt or 1.0)
    below = "time [s]" if record.dt else "sample"
    return over_time(time, contents, below=below, rows=rows, x_range=x_range, height=170)


def errors(run: Prediction, *, rows: int = ROWS, x_range: Range | None = None) -> LayoutDOM:
    """Measured minus simulated, with the band in which 95 of 100 should lie."""
    assert run.measured is not None  # a run that was scored
    contents = []
    for output in range(min(run.mean.shape[1], MAX_PANELS)):
        reach = 2 * run.std[:, output]
        zero = np.zeros(len(run))
        error = run.measured[:, output] - run.mean[:, output]
        lines = [
            Line("± 2 std", zero, PREDICTED, low=-reach, high=reach),
            Line("measured minus simulated", error, MEASURED),
        ]
        contents.append(Content(run.output_names[output], lines, room=2.0, marks=_marks({"": run})))
    below = time_label(run)
    return over_time(run.time, contents, below=below, rows=rows, x_range=x_range, height=200)


def states(run: Prediction, *, rows: int = ROWS, x_range: Range | None = None) -> LayoutDOM:
    """The latent states of a run with their two-sigma band, in the model's own units."""
    mean = run.state_mean
    assert mean is not None  # the caller shows this figure only where there are states
    contents = []
    for state in range(min(mean.shape[1], MAX_PANELS)):
        low = None
        high = None
        if run.state_std is not None:
            low = mean[:, state] - 2 * run.state_std[:, state]
            high = mean[:, state] + 2 * run.state_std[:, state]
        line = Line("mean ± 2 std", mean[:, state], MEASURED, low=low, high=high)
        contents.append(Content(f"state {state + 1}", [line], room=2.0, marks=_marks({"": run})))
    below = time_label(run)
    return over_time(run.time, contents, below=below, rows=rows, x_range=x_range, height=190)


def over_time(
    time: np.ndarray,
    contents: Sequence[Content],
    *,
    below: str,
    rows: int = ROWS,
    x_range: Range | None = None,
    height: int = 260,
) -> LayoutDOM:
    """Panels that share their time axis, each with its lines, bands and marks.

    The rows that are drawn are the same in no two panels: each keeps its own extremes.
    """
    panels: list[figure] = []
    drawn: list[dict[str, list[GlyphRenderer]]] = []
    for content in contents:
        shared = panels[0].x_range if panels else x_range
        last = content is contents[-1]
        plot = panel(
            below if last else "",
            content.beside,
            height=height if len(contents) == 1 else max(140, int(0.7 * height)) + 30 * last,
            x_range=shared,
            y_limits=_limits(content),
        )
        if shared is None:
            plot.x_range.range_padding = 0.0
        drawn.append(_draw(plot, time, content, below=below, rows=rows))
        panels.append(plot)
    legend(panels[0], drawn[0])
    hide_together(drawn)
    return stacked(panels)


def _draw(
    plot: figure, time: np.ndarray, content: Content, *, below: str, rows: int
) -> dict[str, list[GlyphRenderer]]:
    """The lines and marks of a panel; what was drawn for each word of the legend."""
    drawn: dict[str, list[GlyphRenderer]] = {}
    kept = kept_rows([part for line in content.lines for part in line.columns], rows)
    source = ColumnDataSource({"time": time[kept]})
    told = [(below, "time")]
    for i, line in enumerate(content.lines):
        source.add(line.values[kept], f"value{i}")
        told.append((line.label, f"value{i}"))
        mine = drawn.setdefault(line.label, [])
        if line.low is not None and line.high is not None:
            source.add(line.low[kept], f"low{i}")
            source.add(line.high[kept], f"high{i}")
            told += [(f"{line.label}, low", f"low{i}"), (f"{line.label}, high", f"high{i}")]
            mine.append(
                plot.varea(
                    x="time",
                    y1=f"low{i}",
                    y2=f"high{i}",
                    source=source,
                    fill_color=line.colour,
                    fill_alpha=0.2,
                )
            )
        style = {"line_color": line.colour, "line_dash": line.dash, "line_width": 1.3}
        mine.insert(0, plot.line("time", f"value{i}", source=source, **style))
    # a line that nobody sees and no legend hides, so that there are always numbers to read
    hover(plot, plot.line("time", "value0", source=source, line_alpha=0.0), told)
    return drawn | _draw_marks(plot, time, content.marks)


def _draw_marks(
    plot: figure, time: np.ndarray, marks: Mapping[str, np.ndarray]
) -> dict[str, list[GlyphRenderer]]:
    """Strips behind the lines where rows are marked."""
    drawn = {}
    for words, marked in marks.items():
        begin, end = marked_spans(time, marked)
        if len(begin):
            colour = QUIET if words == SEEN_WORDS else OUTSIDE
            strip = plot.vstrip(x0=begin, x1=end, fill_color=colour, fill_alpha=0.18, line_width=0)
            strip.level = "underlay"
            drawn[words] = [strip]
    return drawn


def _run_line(label: str, run: Prediction, output: int, colour: str, *, band: bool) -> Line:
    mean = run.mean[:, output]
    if not band:
        return Line(label, mean, colour, dash="dashed")
    reach = 2 * run.std[:, output]
    return Line(label, mean, colour, low=mean - reach, high=mean + reach)


def _marks(runs: Mapping[str, Prediction]) -> dict[str, np.ndarray]:
    """The rows that the first run has seen, and those where some run is outside of its data."""
    first = next(iter(runs.values()))
    marks = {SEEN_WORDS: np.arange(len(first)) < first.warmup}
    known = [run.outside for run in runs.values() if run.outside is not None]
    if known:
        marks[OUTSIDE_WORDS] = np.any(known, axis=0)
    return marks


def _limits(content: Content) -> tuple[float, float] | None:
    lines = np.concatenate([line.values for line in content.lines])
    low = [line.low for line in content.lines if line.low is not None]
    high = [line.high for line in content.lines if line.high is not None]
    nothing = [np.zeros(0)]
    return limits(
        lines, np.concatenate(low or nothing), np.concatenate(high or nothing), most=content.room
    )
