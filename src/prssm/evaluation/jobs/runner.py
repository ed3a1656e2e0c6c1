"""Runs what is not yet recorded, in this process, on local processes or on a cluster.

Only this process writes results.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from prssm.evaluation.jobs.cluster import run_on_dask
from prssm.evaluation.jobs.job_record import FAILED, Finished
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.jobs.workers import Done, Event, Lost, Started, run_in_processes

Work = Callable[[Any], Finished]
Blank = Callable[[Any], dict[str, Any]]  # the record of a job before anything has run


class Job(Protocol):
    """An experiment of a benchmark or a trial of a search; its text tells a person which."""

    @property
    def key(self) -> str: ...


class Watcher(Protocol):
    """Watches a benchmark run or a search."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, job: Any) -> None: ...
    def finished(self, job: Any, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


class Unwatched:
    """The watcher that says nothing."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, job: Any) -> None: ...
    def finished(self, job: Any, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


def run_missing(
    jobs: Sequence[Job],
    results: Results,
    *,
    work: Work,
    blank: Blank,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    watcher: Watcher | None = None,
) -> int:
    """Runs `work` on the jobs that are not recorded yet, records each as soon as it ends.

    Says how many were run. A failed job counts as recorded unless `retry_failed`. `blank` makes the
    record of a job that was lost with its process.
    """
    unique = list({job.key: job for job in reversed(jobs)}.values())[::-1]  # the first of equals
    todo = [job for job in unique if needs_run(job, results, retry_failed)]
    watcher = watcher or Unwatched()
    if not todo:
        return 0
    watcher.start(len(unique), len(unique) - len(todo))
    events = events_of(work, todo, min(workers, len(todo)), dask=dask)
    record_all(events, results, watcher, blank=blank)
    return len(todo)


def needs_run(job: Job, results: Results, retry_failed: bool) -> bool:
    """Whether a job is not recorded, or failed and is to be tried again."""
    record = results.records.get(job.key)
    return record is None or (retry_failed and record["outcome"] == FAILED)


def record_all(events: Any, results: Results, watcher: Watcher, blank: Blank) -> None:
    """Records each job as soon as it ends.

    `blank` makes the record of a job that was lost with its process.
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
    """Starts the jobs, on a cluster, on local processes or in this one; yields what happens.

    Jobs are asked for one by one.
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


def _lost(event: Lost, blank: Blank) -> Finished:
    return Finished(blank(event.job) | {"outcome": FAILED, "reason": event.reason}, {})
