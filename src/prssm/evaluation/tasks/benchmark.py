"""All experiments of a benchmark: `prssm benchmark` without the terminal.

planned = plan(settings)
run(settings, planned.experiments, Results(settings.out))
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prssm.evaluation.benchmark.figure_plans import (
    FIGURES,
    FigurePlan,
    figure_datasets,
    plan_figure,
)
from prssm.evaluation.benchmark.plan import (
    Experiment,
    Variant,
    chosen_datasets,
    chosen_settings,
    chosen_variants,
    experiments,
    in_setting,
    variant_of,
)
from prssm.evaluation.benchmark.published import Setting
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.runner import Watcher
from prssm.evaluation.tasks.settings import BenchmarkSettings


@dataclass(frozen=True)
class Planned:
    """The experiments of the main tables, the figures, and the tables of the paper's supplement."""

    experiments: list[Experiment]
    figures: list[FigurePlan]
    supplement: list[tuple[Setting, list[Experiment]]]


def plan(settings: BenchmarkSettings) -> Planned:
    """All experiments; every name is known and every data set there before anything runs."""
    variants = chosen_variants(settings.methods, settings.preset, settings.options)
    supplement = chosen_settings(settings.supplement)
    names = list(FIGURES) if "all" in settings.figures else list(dict.fromkeys(settings.figures))
    needed = figure_datasets(names)
    chosen = chosen_datasets(settings.datasets)
    if needed:
        chosen_datasets(needed)
    planned = experiments(chosen, variants, settings.seeds)
    return Planned(
        planned,
        _figures(settings, names, variants) if names else [],
        [(setting, in_setting(planned, setting)) for setting in supplement],
    )


def _figures(
    settings: BenchmarkSettings, names: Sequence[str], variants: Sequence[Variant]
) -> list[FigurePlan]:
    ours = variant_of("prssm", settings.preset, settings.options)
    return [plan_figure(name, ours, variants, seeds=settings.seeds) for name in names]


def run(
    settings: BenchmarkSettings,
    planned: Sequence[Experiment],
    results: Results,
    watcher: Watcher | None = None,
) -> None:
    """Run what is not recorded yet, where the settings say."""
    run_all(
        planned,
        results,
        watcher=watcher,
        workers=settings.workers,
        dask=settings.dask,
        retry_failed=settings.retry_failed,
    )
