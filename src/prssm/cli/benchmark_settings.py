"""What `prssm benchmark` can be told, and what settings it makes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from prssm.cli.whole import Whole
from prssm.evaluation.tasks.settings import BenchmarkSettings

Several = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Count = Annotated[Whole, Parameter(validator=validators.Number(gte=1))]


@dataclass(frozen=True, kw_only=True)
class BenchmarkWords:
    """The words of `prssm benchmark`; a new one goes into `benchmark_settings` too."""

    methods: Annotated[
        Several,
        Parameter(
            help="Methods, each with options if wanted: prssm:scheme=full,iterations=500. The "
            "constant and the linear row are always there. Default: all methods."
        ),
    ] = None
    datasets: Annotated[
        Several, Parameter(help="Data sets by name. Default: the paper's five.")
    ] = None
    seeds: Annotated[Count, Parameter(help="How many seeds: 5 means 0 to 4.")] = (
        BenchmarkSettings.seeds
    )
    out: Annotated[
        Path, Parameter(help="Folder of the results; what is recorded there is not run again.")
    ] = BenchmarkSettings.out
    preset: Annotated[
        str | None, Parameter(help="Start from this preset, for the methods that have it.")
    ] = None
    options: Annotated[
        Several,
        Parameter(
            help="key=value for every method with that option, method.key=value for one method.",
        ),
    ] = None
    supplement: Annotated[
        Several,
        Parameter(
            help="Besides the paper's main table (normalised data, moment matching) those of its "
            "supplement: unnormalised-mean, unnormalised-moments, normalised-mean, or all.",
        ),
    ] = None
    figures: Annotated[
        Several,
        Parameter(
            help="Figures of the paper to run and draw: untrained-vs-trained, recognition, "
            "drives-methods, full-vs-stochastic, or all."
        ),
    ] = None
    workers: Annotated[Count, Parameter(help="Local processes to spread the experiments over.")] = (
        BenchmarkSettings.workers
    )
    dask: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to spread the experiments over.")
    ] = None
    retry_failed: Annotated[bool, Parameter(negative="", help="Run failed experiments again.")] = (
        False
    )
    report_only: Annotated[
        bool,
        Parameter(
            negative="",
            help="Run nothing: tables and pages of what is recorded; the rest is shown as missing.",
        ),
    ] = False
    docs: Annotated[
        Path | None,
        Parameter(help="Also write the results page here, e.g. docs/studies/results.md."),
    ] = None
    quiet: Annotated[bool, Parameter(negative="", help="No progress, no tables.")] = False


def benchmark_settings(words: BenchmarkWords) -> BenchmarkSettings:
    """Which experiments, and where they run."""
    return BenchmarkSettings(
        methods=words.methods,
        datasets=words.datasets,
        seeds=words.seeds,
        out=words.out,
        preset=words.preset,
        options=words.options or (),
        supplement=words.supplement or (),
        figures=words.figures or (),
        workers=words.workers,
        dask=words.dask,
        retry_failed=words.retry_failed,
    )
