"""`prssm benchmark`: methods x data sets x seeds under the paper's protocol, beside the published
figures.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from prssm.evaluation.tasks.settings import BenchmarkSettings

if TYPE_CHECKING:
    from prssm.evaluation.benchmark.plan import Experiment
    from prssm.evaluation.jobs.results import Results
    from prssm.report.benchmark.page import Benchmark

Words = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Count = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def benchmark(
    *,
    methods: Annotated[
        Words,
        Parameter(
            help="Methods, each with options if wanted: prssm:scheme=full,iterations=500. The "
            "constant and the linear row are always there. Default: all methods."
        ),
    ] = None,
    datasets: Annotated[
        Words, Parameter(help="Data sets by name. Default: the paper's five.")
    ] = None,
    seeds: Annotated[Count, Parameter(help="How many seeds: 5 means 0 to 4.")] = 5,
    out: Annotated[
        Path, Parameter(help="Folder of the results; what is recorded there is not run again.")
    ] = Path("runs"),
    preset: Annotated[
        str | None, Parameter(help="Start from this preset, for the methods that have it.")
    ] = None,
    options: Annotated[
        Words,
        Parameter(
            help="key=value for every method with that option, method.key=value for one method.",
        ),
    ] = None,
    supplement: Annotated[
        Words,
        Parameter(
            help="Besides the paper's main table (normalised data, moment matching) those of its "
            "supplement: unnormalised-mean, unnormalised-moments, normalised-mean, or all.",
        ),
    ] = None,
    figures: Annotated[
        Words,
        Parameter(
            help="Figures of the paper to run and draw: untrained-vs-trained, recognition, "
            "drives-methods, full-vs-stochastic, or all."
        ),
    ] = None,
    workers: Annotated[
        Count, Parameter(help="Local processes to spread the experiments over.")
    ] = 1,
    dask: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to spread the experiments over.")
    ] = None,
    retry_failed: Annotated[
        bool, Parameter(negative="", help="Run failed experiments again.")
    ] = False,
    report_only: Annotated[
        bool,
        Parameter(
            negative="",
            help="Run nothing: tables and pages of what is recorded; the rest is shown as missing.",
        ),
    ] = False,
    docs: Annotated[
        Path | None, Parameter(help="Also write the results page here, e.g. docs/results.md.")
    ] = None,
    quiet: Annotated[bool, Parameter(negative="", help="No progress, no tables.")] = False,
) -> None:
    """Train and score methods on data sets, and set the figures beside the published ones.

    Each finished experiment is one line of OUT/experiments.jsonl. A repeated command runs only what
    is missing there, then writes OUT/report.html, OUT/results.md and OUT/experiments.csv.
    """
    _check_page_name(docs)
    settings = BenchmarkSettings(
        methods=methods,
        datasets=datasets,
        seeds=seeds,
        out=out,
        preset=preset,
        options=options or (),
        supplement=supplement or (),
        figures=figures or (),
        workers=workers,
        dask=dask,
        retry_failed=retry_failed,
    )
    from prssm.evaluation.jobs.results import Results
    from prssm.evaluation.tasks.benchmark import plan
    from prssm.report.benchmark.page import Benchmark, write_pages

    results = Results(out)
    planned = plan(settings)
    told = Benchmark(
        planned.experiments,
        planned.figures,
        results,
        command=_command_line(settings, docs),
        settings=planned.supplement,
    )
    if not report_only:
        _run(settings, told.experiments(), results, quiet=quiet)
    written = write_pages(out, told, docs)
    if not quiet:
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
    """The command that gives these results, for the page; how it was spread over machines does not
    belong to it.
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
