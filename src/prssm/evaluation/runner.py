"""Runs what is not yet recorded, in this process, on local processes or on a cluster. Only this process writes results."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from prssm.evaluation.cluster import run_on_dask
from prssm.evaluation.experiment import FAILED, OK, Finished, blank_record, run_experiment
from prssm.evaluation.plan import Experiment
from prssm.evaluation.results import Results
from prssm.evaluation.workers import Done, Event, Lost, Started, run_in_processes

Work = Callable[[Experiment], Finished]


class Watcher(Protocol):
    """Watches a benchmark run."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, experiment: Experiment) -> None: ...
    def finished(self, experiment: Experiment, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


class Unwatched:
    """The watcher that says nothing."""

    def start(self, total: int, done: int) -> None: ...
    def started(self, experiment: Experiment) -> None: ...
    def finished(self, experiment: Experiment, record: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


def run_all(planned: Sequence[Experiment], results: Results, *, workers: int = 1, dask: str | None = None,
            retry_failed: bool = False, watcher: Watcher | None = None, work: Work = run_experiment) -> int:
    """Run the planned experiments that are not recorded yet, and record each as soon as it ends; how many were run.

    A failed experiment counts as recorded unless `retry_failed`. Ctrl-C keeps what is finished.
    """
    unique = list({experiment.key: experiment for experiment in reversed(planned)}.values())[::-1]  # the first of equals
    todo = [experiment for experiment in unique if needs_run(experiment, results, retry_failed)]
    watcher = watcher or Unwatched()
    if not todo:
        return 0
    events = _events(work, todo, workers, dask)
    watcher.start(len(unique), len(unique) - len(todo))
    try:
        for event in events:
            if isinstance(event, Started):
                watcher.started(event.job)
                continue
            finished = event.result if isinstance(event, Done) else _lost(event)
            results.append(finished.record, finished.arrays)
            watcher.finished(event.job, finished.record)
    finally:
        events.close()  # ends worker processes at once, not when the garbage is collected
        watcher.stop()
    return len(todo)


def needs_run(experiment: Experiment, results: Results, retry_failed: bool) -> bool:
    record = results.records.get(experiment.key)
    return record is None or (retry_failed and record["outcome"] != OK)


def _events(work: Work, todo: Sequence[Experiment], workers: int, dask: str | None) -> Any:
    if dask is not None:
        return run_on_dask(work, todo, dask)
    if workers > 1:
        return run_in_processes(work, todo, min(workers, len(todo)))
    return _run_here(work, todo)


def _run_here(work: Work, todo: Sequence[Experiment]) -> Iterator[Event]:
    for experiment in todo:
        yield Started(experiment)
        yield Done(experiment, work(experiment))


def _lost(event: Lost) -> Finished:
    return Finished(blank_record(event.job) | {"outcome": FAILED, "reason": event.reason}, {})
