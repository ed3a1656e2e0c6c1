"""Tables for the terminal, Markdown and CSV; the words and directions of the metrics.

Shared by all pages.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from prssm.evaluation.comparison import Run, ScoreRow
from prssm.foundation.show.cards import card, grid, shown_in_notebooks

Cell = str | float | int | None
MISSING = "n/a"
PIPE_WIDTH = 200  # a pipe has no width of its own: do not fold what a program will read


@dataclass(frozen=True)
class Table:
    """A table as values, which every form (terminal, Markdown, CSV, HTML) prints.

    `formats[j]` prints the numbers of column j; `best` and `second` are cells (row, column) to
    mark.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    formats: Mapping[int, str] = field(default_factory=dict)
    best: frozenset[tuple[int, int]] = frozenset()
    second: frozenset[tuple[int, int]] = frozenset()

    def text(self, row: int, column: int) -> str:
        """A cell as a person reads it; a number that is missing or not finite is "n/a"."""
        value = self.rows[row][column]
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return MISSING
        return (
            format(value, self.formats.get(column, ""))
            if isinstance(value, int | float)
            else str(value)
        )

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        columns = range(len(self.header))
        rows = [[self.text(i, j) for j in columns] for i in range(len(self.rows))]
        return card(self.title, table=grid(self.header, rows))

    def numeric(self, column: int) -> bool:
        return any(isinstance(row[column], int | float) for row in self.rows)


@dataclass(frozen=True)
class Metric:
    """How a metric is called, printed and compared.

    `target` is a value to be near; without one `higher` says which way is good.
    """

    title: str
    format: str
    higher: bool = False
    target: float | None = None
    explanation: str = ""


METRICS = {
    "rmse": Metric(
        "RMSE", ".4g", explanation="root mean square error over all steps, warm-up included"
    ),
    "rmse_after_warmup": Metric(
        "RMSE unseen", ".4g", explanation="the same over the steps after the warm-up"
    ),
    "rmse_30": Metric("RMSE 30", ".4g", explanation="over the first 30 steps"),
    "rmse_50": Metric("RMSE 50", ".4g", explanation="over the first 50 steps"),
    "fit_percent": Metric(
        "fit %",
        ".1f",
        higher=True,
        explanation="100 is perfect, 0 is no better than the run's own mean",
    ),
    "nrmse": Metric(
        "NRMSE", ".3f", explanation="RMSE divided by the spread of the training outputs"
    ),
    "log_likelihood": Metric(
        "log-lik.",
        ".2f",
        higher=True,
        explanation="mean log-density of a measurement, data's units",
    ),
    "log_likelihood_scaled": Metric(
        "log-lik. scaled",
        ".2f",
        higher=True,
        explanation="mean log-density of a measurement, outputs scaled to unit spread",
    ),
    "coverage_50": Metric(
        "in 50 % band", ".0%", target=0.50, explanation="share of measurements inside the 50 % band"
    ),
    "coverage_80": Metric(
        "in 80 % band", ".0%", target=0.80, explanation="share of measurements inside the 80 % band"
    ),
    "coverage_95": Metric(
        "in 95 % band", ".0%", target=0.95, explanation="share of measurements inside the 95 % band"
    ),
    "coverage_2sigma": Metric(
        "in ± 2 std", ".0%", target=0.9545, explanation="share of measurements inside ± 2 std"
    ),
}
MAIN_METRICS = ("rmse", "rmse_after_warmup", "fit_percent", "log_likelihood_scaled", "coverage_95")


def score_table(
    rows: Sequence[ScoreRow], *, title: str = "", metrics: Sequence[str] = MAIN_METRICS
) -> Table:
    """One row for each method, one column for each metric, the best of each column marked."""
    cells: list[list[Cell]] = [
        [row.label, *(row.scores.get(key) for key in metrics)] for row in rows
    ]
    header = ["", *(METRICS[key].title for key in metrics)]
    formats = {j + 1: METRICS[key].format for j, key in enumerate(metrics)}
    best = {
        (i, j + 1)
        for j, key in enumerate(metrics)
        for i in _best([row.scores.get(key) for row in rows], METRICS[key])
    }
    if any(row.note for row in rows):
        header.append("note")
        for row, line in zip(rows, cells, strict=True):
            line.append(row.note)
    return Table(title, header, cells, formats, frozenset(best))


def outputs_table(run: Run, *, title: str = "", metrics: Sequence[str] = MAIN_METRICS) -> Table:
    """One row for each output of a run and one for all together, one column for each metric."""
    rows = [ScoreRow(name, scores) for name, scores in run.each.items()]
    table = score_table([*rows, ScoreRow("all", run.scores)], title=title, metrics=metrics)
    return replace(table, best=frozenset())  # outputs are no rivals


def metric_table(scores: Mapping[str, float], *, title: str = "") -> Table:
    """One row a metric, with its meaning."""
    rows: list[list[Cell]] = []
    for key, value in scores.items():
        metric = METRICS.get(key, Metric(key, ".4g"))
        shown = format(value, metric.format) if math.isfinite(value) else MISSING
        rows.append([metric.title, shown, metric.explanation])
    return Table(title, ["metric", "value", "meaning"], rows)


def _best(values: Sequence[float | None], metric: Metric) -> list[int]:
    """Positions of the best value, ties included; none where fewer than two methods have one."""
    known = {
        i: value for i, value in enumerate(values) if value is not None and math.isfinite(value)
    }
    if len(known) < 2:
        return []
    cost = {
        i: abs(v - metric.target) if metric.target is not None else -v if metric.higher else v
        for i, v in known.items()
    }
    return [i for i in cost if cost[i] == min(cost.values())]


def to_markdown(table: Table) -> str:
    """A Markdown table, best cells bold, second best in italics."""
    lines = ["| " + " | ".join(_escaped(name) for name in table.header) + " |"]
    lines.append(
        "|"
        + "|".join("---:" if table.numeric(j) else "---" for j in range(len(table.header)))
        + "|"
    )
    for i in range(len(table.rows)):
        cells = [_escaped(table.text(i, j)) for j in range(len(table.header))]
        lines.append(
            "| "
            + " | ".join(
                f"{_stars(table, i, j)}{c}{_stars(table, i, j)}" for j, c in enumerate(cells)
            )
            + " |"
        )
    return "\n".join(lines) + "\n"


def _stars(table: Table, row: int, column: int) -> str:
    return "**" if (row, column) in table.best else "*" if (row, column) in table.second else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def to_csv(table: Table) -> str:
    """Comma-separated values in full precision; what is missing or not finite stays empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.header)
    for row in table.rows:
        writer.writerow(
            ["" if v is None or (isinstance(v, float) and not math.isfinite(v)) else v for v in row]
        )
    return stream.getvalue()


def _style(table: Table, row: int, column: int) -> str:
    return (
        "bold green"
        if (row, column) in table.best
        else "underline"
        if (row, column) in table.second
        else ""
    )


def print_table(table: Table) -> None:
    """On standard output; best cells bold, second best underlined, where the terminal can."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        title=Text(table.title) if table.title else None, box=box.SIMPLE_HEAD, title_justify="left"
    )
    for j, name in enumerate(table.header):
        drawn.add_column(
            Text(name), justify="right" if table.numeric(j) else "left", overflow="fold"
        )
    for i in range(len(table.rows)):
        drawn.add_row(
            *(Text(table.text(i, j), style=_style(table, i, j)) for j in range(len(table.header)))
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    console.print(drawn)
