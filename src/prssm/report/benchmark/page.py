"""The benchmark's results as pages: Markdown for the documentation, HTML, CSV and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prssm.evaluation.benchmark.figure_plans import FigurePlan
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.benchmark.published import Setting, published
from prssm.evaluation.jobs.results import Results
from prssm.foundation.atomic import replacing
from prssm.report.benchmark import tables
from prssm.report.html import render
from prssm.report.origin import distinct, origin
from prssm.report.tables import Table, to_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Benchmark results"
FIGURES_FOLDER = "figures"


@dataclass(frozen=True)
class Benchmark:
    """What a page is about: experiments of tables and figures, their records, and the command.

    `settings` are the paper's other settings that were asked for, each with its experiments.
    """

    planned: Sequence[Experiment]
    figures: Sequence[FigurePlan]
    results: Results
    command: str
    settings: Sequence[tuple[Setting, Sequence[Experiment]]] = ()

    def tabled(self) -> list[Experiment]:
        """The experiments of all tables, each once."""
        everything = [*self.planned, *(e for _, planned in self.settings for e in planned)]
        return list({experiment.key: experiment for experiment in reversed(everything)}.values())[
            ::-1
        ]

    def experiments(self) -> list[Experiment]:
        return [*self.tabled(), *(e for plan in self.figures for e in plan.experiments())]

    def records(self) -> list[dict[str, Any]]:
        keys = dict.fromkeys(experiment.key for experiment in self.experiments())
        return [self.results.records[key] for key in keys if key in self.results.records]


def write_pages(folder: Path, benchmark: Benchmark, docs: Path | None = None) -> list[Path]:
    """Writes all pages into the output folder, and says which.

    The Markdown page (with its figures) also goes to `docs`.
    """
    from prssm.foundation.show.pictures import png

    drawn = draw_all(benchmark)
    pictures = {f"{name}.png": png(figure) for name, figure in drawn.items()}
    markdown = markdown_page(benchmark)
    written = [
        _write(
            folder / "experiments.csv",
            tables.experiments_csv(benchmark.tabled(), benchmark.results.records),
        ),
        _write(folder / "report.html", html_page(benchmark, drawn)),
    ]
    for page in (folder / "results.md", docs):
        if page is not None:
            written.append(_write(page, markdown))
            written += [
                _write(page.parent / FIGURES_FOLDER / name, picture)
                for name, picture in pictures.items()
            ]
    return written


def main_tables(benchmark: Benchmark) -> list[Table]:
    """What one looks at first: errors beside the paper's, likelihood, coverage, cost, failures."""
    planned = benchmark.planned
    records = benchmark.results.records
    makers = (tables.rmse_table, tables.likelihood_table, tables.coverage_table, tables.cost_table)
    others = [
        tables.rmse_table(in_setting, records, setting)
        for setting, in_setting in benchmark.settings
    ]
    failed = tables.failure_table(benchmark.tabled(), records)
    return [*(make(planned, records) for make in makers), *others, *([failed] if failed else [])]


def further_tables(benchmark: Benchmark) -> list[Table]:
    """Reference figures, where their data sets were run."""
    datasets = list(dict.fromkeys(experiment.dataset for experiment in benchmark.planned))
    known = any(set(datasets) & set(reference.rmse) for reference in published().references)
    return [tables.reference_table(datasets)] if known else []


def facts(benchmark: Benchmark) -> list[tuple[str, str]]:
    """What was run, and where the numbers come from."""
    records = benchmark.records()
    trained = sum(record["seconds"]["fit"] or 0.0 for record in records)
    rows = [
        ("Command", benchmark.command),
        ("Page made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        (
            "Experiments",
            f"{len(records)}, of which {sum(r['outcome'] != 'ok' for r in records)} failed",
        ),
        ("Time in training", f"{trained:.0f} s, summed over experiments"),
    ]
    if records:
        names = (f"{r['dataset']} ({r['data']['name']})" for r in records if r["data"])
        rows.append(("Data", distinct(names)))
    return [
        *rows,
        *origin(records),
        ("Published figures", f"{published().source}. {published().where}."),
    ]


def markdown_page(benchmark: Benchmark) -> str:
    """The page as Markdown; its figures lie in a folder beside it."""
    parts = [
        f"# {TITLE}",
        "This page is written by the command below; do not edit it by hand.",
        "\n".join(
            f"- {name}: {f'`{value}`' if name == 'Command' else value}"
            for name, value in facts(benchmark)
        ),
        f"{tables.NOTE} Best is bold, second best in italics.",
    ]
    for table in [*main_tables(benchmark), *further_tables(benchmark)]:
        parts += [f"## {table.title}", to_markdown(table).rstrip()]
    for plan in benchmark.figures:
        link = f"![{plan.caption}]({FIGURES_FOLDER}/{plan.name}.png)"
        parts += [f"## Figure: {plan.name}", f"{plan.caption}.", link]
    return "\n\n".join(parts) + "\n"


def html_page(benchmark: Benchmark, drawn: "Mapping[str, Figure]") -> str:
    """The page as HTML with everything inside; `drawn` are its figures by name, from `draw_all`.

    Best is underlined, second best dashed, as in the paper.
    """
    from prssm.report.images import embed

    images = [embed(drawn[plan.name], plan.caption, plan.caption) for plan in benchmark.figures]
    return render(
        "benchmark.html",
        title=TITLE,
        facts=facts(benchmark),
        note=tables.NOTE,
        tables=[*main_tables(benchmark), *further_tables(benchmark)],
        figures=[(plan.name, image) for plan, image in zip(benchmark.figures, images, strict=True)],
    )


def draw_all(benchmark: Benchmark) -> "dict[str, Figure]":
    """The figures of a benchmark by name; drawn once for the page and the files beside it."""
    from prssm.report.benchmark.paper_figures import draw  # matplotlib is slow to import

    return {plan.name: draw(plan, benchmark.results) for plan in benchmark.figures}


def _write(path: Path, content: str | bytes) -> Path:
    with replacing(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
    return path
