"""`prssm benchmark`: methods x data sets x seeds under the paper's protocol.

The results stand beside the published figures.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from prssm.cli.benchmark_settings import BenchmarkWords, benchmark_settings
from prssm.evaluation.tasks.settings import BenchmarkSettings

if TYPE_CHECKING:
    from prssm.evaluation.benchmark.plan import Experiment
    from prssm.evaluation.jobs.results import Results
    from prssm.report.benchmark.page import Benchmark


def benchmark(
    *,
    words: Annotated[BenchmarkWords, Parameter(name="*")] = BenchmarkWords(),  # noqa: B008 - frozen
) -> None:
    """Train and score methods on data sets, and set the figures beside the published ones.

    Each finished experiment is one line of OUT/experiments.jsonl. A repeated command runs only what
    is missing there, then writes OUT/report.html, OUT/results.md and OUT/experiments.csv.
    """
    _check_page_name(words.docs)
    settings = benchmark_settings(words)
    from prssm.evaluation.jobs.results import Results
    from prssm.evaluation.tasks.benchmark import plan
    from prssm.report.benchmark.page import Benchmark, write_pages

    results = Results(settings.out)
    planned = plan(settings)
    told = Benchmark(
        planned.experiments,
        planned.figures,
        results,
        command=_command_line(settings, words.docs),
        settings=planned.supplement,
    )
    if not words.report_only:
        _run(settings, told.experiments(), results, quiet=words.quiet)
    written = write_pages(settings.out, told, words.docs)
    if not words.quiet:
        _print(told)
        print(f"written: {', '.join(str(path) for path in [results.path, *written])}")


def _run(
    settings: BenchmarkSettings, planned: "Sequence[Experiment]", results: "Results", quiet: bool
) -> None:
    from prssm.cli.terminal import unwarned, wants_progress
    from prssm.evaluation.jobs.runner import Unwatched
    from prssm.evaluation.tasks.benchmark import run
    from prssm.report.progress import Lines, Live

    watcher = Unwatched() if quiet else Live() if wants_progress(quiet) else Lines()
    try:
        with unwarned():
            run(settings, planned, results, watcher=watcher)
    except KeyboardInterrupt:
        keys = {experiment.key for experiment in planned}
        done = len(keys & set(results.records))
        raise KeyboardInterrupt(
            f"stopped; {done} of {len(keys)} experiments are kept in {results.path}, the same "
            "command goes on from there"
        ) from None


def _print(told: "Benchmark") -> None:
    from prssm.report.benchmark.page import main_tables
    from prssm.report.benchmark.tables import NOTE
    from prssm.report.tables import print_table

    for table in main_tables(told):
        print_table(table)
    print(NOTE)


def _check_page_name(docs: Path | None) -> None:
    from prssm.cli.outputs import checked_name

    if docs is not None:
        checked_name(docs, (".md",), "--docs")


def _command_line(settings: BenchmarkSettings, docs: Path | None) -> str:
    """The command that gives these results, for the page.

    How it was spread over machines does not belong to it.
    """
    words = ["prssm", "benchmark"]
    names = (
        "methods",
        "datasets",
        "seeds",
        "out",
        "preset",
        "options",
        "supplement",
        "figures",
    )
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, int | str | Path):
            words += [f"--{name}", str(value)]
        elif value:
            words += [f"--{name}", *value]
    return shlex.join([*words, *(["--docs", str(docs)] if docs is not None else [])])
