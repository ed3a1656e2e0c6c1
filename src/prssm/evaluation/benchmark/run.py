"""Runs the experiments of a benchmark that are not recorded yet."""

from collections.abc import Sequence

from prssm.evaluation.benchmark.experiment import blank_record, run_experiment
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.runner import Watcher, Work, run_missing


def run_all(
    planned: Sequence[Experiment],
    results: Results,
    *,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    watcher: Watcher | None = None,
    work: Work = run_experiment,
) -> int:
    """Runs what is missing, records each experiment as soon as it ends; says how many were run.

    A failed experiment counts as recorded unless `retry_failed`. Ctrl-C keeps what is finished.
    """
    return run_missing(
        planned,
        results,
        work=work,
        blank=blank_record,
        workers=workers,
        dask=dask,
        retry_failed=retry_failed,
        watcher=watcher,
    )
