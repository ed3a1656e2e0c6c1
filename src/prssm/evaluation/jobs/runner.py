"""Runs what is not yet recorded, in this process, on local processes or on a cluster. Only this
process writes results.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from prssm.evaluation.benchmark.experiment import FAILED, Finished, blank_record, run_experiment
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.cluster import run_on_dask
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.workers import Done, Event, Lost, Started, run_in_processes

Work = Callable[[Any], Finished]


class Job(Protocol):
    """An experiment of a benchmark or a trial of a search; its text tells a person which."""

    @property
    def key(self) -> str: ...


class Watcher(Protocol):
    """Watches a benchmark run or a search."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, experiment: Any) -> None: ...
    def finished(self, experiment: Any, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


class Unwatched:
    """The watcher that says nothing."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, experiment: Any) -> None: ...
    def finished(self, experiment: Any, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


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
    """Run the planned experiments that are not recorded yet, and record each as soon as it ends;
    how many were run.

    A failed experiment counts as recorded unless `retry_failed`. Ctrl-C keeps what is finished.
    """
    # the first of equals
    unique = list({experiment.key: experiment for experiment in reversed(planned)}.values())[::-1]
    todo = [experiment for experiment in unique if needs_run(experiment, results, retry_failed)]
    watcher = watcher or Unwatched()
    if not todo:
        return 0
    watcher.start(len(unique), len(unique) - len(todo))
    record_all(
        events_of(work, todo, min(workers, len(todo)), dask=dask),
        results,
        watcher,
        blank=blank_record,
    )
    return len(todo)


def needs_run(experiment: Job, results: Results, retry_failed: bool) -> bool:
    record = results.records.get(experiment.key)
    return record is None or (retry_failed and record["outcome"] == FAILED)


def record_all(
    events: Any, results: Results, watcher: Watcher, blank: Callable[[Any], dict[str, Any]]
) -> None:
    """Record each job as soon as it ends; `blank` makes the record of one that was lost with its
    process.
    """
    try:
        for event in events:
            if isinstance(event, Started):
                watcher.started(event.job)
                continue
            finished = event.result if isinstance(event, Done) else _lost(event, blank)
            results.append(finished.record, finished.arrays)
            watcher.finished(event.job, finished.record)
    finally:
        events.close()  # ends worker processes at once, not when the garbage is collected
        watcher.stop()


def events_of(work: Work, jobs: Iterable[Any], workers: int, dask: str | None) -> Any:
    """What happens to the jobs, on a cluster, on local processes or in this one; they are asked for
    one by one.
    """
    if dask is not None:
        return run_on_dask(work, jobs, dask)
    if workers > 1:
        return run_in_processes(work, jobs, workers)
    return _run_here(work, jobs)


def _run_here(work: Work, jobs: Iterable[Any]) -> Iterator[Event]:
    for job in jobs:
        yield Started(job)
        yield Done(job, work(job))


def _lost(event: Lost, blank: Callable[[Any], dict[str, Any]]) -> Finished:
    return Finished(blank(event.job) | {"outcome": FAILED, "reason": event.reason}, {})
