"""Shows a benchmark or a search while it runs: live on a terminal, plain lines in a log."""

import sys
from collections.abc import Callable
from typing import Any

from prssm.evaluation.jobs.job_record import OK

Verdict = Callable[[dict[str, Any]], str]


def verdict(record: dict[str, Any]) -> str:
    """How an experiment ended, in a few words."""
    if record["outcome"] != OK:
        return f"failed: {record['reason']}"
    rmse = record["metrics"]["test"]["rmse"]
    told = "undefined" if rmse is None else f"{rmse:.4g}"
    return f"test RMSE {told}, trained in {record['seconds']['fit']:.1f} s"


class Lines:
    """One line on standard error for each finished experiment."""

    def __init__(self, verdict: Verdict = verdict) -> None:
        self._verdict = verdict

    def start(self, total: int, done: int) -> None:
        self._total = total
        self._done = done

    def started(self, experiment: Any) -> None: ...

    def finished(self, experiment: Any, record: dict[str, Any]) -> None:
        self._done += 1
        print(
            f"[{self._done}/{self._total}] {experiment}: {self._verdict(record)}",
            file=sys.stderr,
            flush=True,
        )

    def stop(self) -> None: ...


class Live:
    """A bar over all jobs, a line for each that is running, a lasting line for each that ended."""

    def __init__(self, verdict: Verdict = verdict, title: str = "benchmark") -> None:
        self._verdict = verdict
        self._title = title

    def start(self, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        self._display = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._all = self._display.add_task(self._title, total=total, completed=done)
        self._running: dict[str, Any] = {}
        self._display.start()

    def started(self, experiment: Any) -> None:
        self._remove(experiment)  # one whose worker died is started again
        self._running[experiment.key] = self._display.add_task(str(experiment), total=None)

    def finished(self, experiment: Any, record: dict[str, Any]) -> None:
        self._remove(experiment)
        self._display.advance(self._all)
        self._display.console.print(
            f"{experiment}: {self._verdict(record)}", markup=False, highlight=False
        )

    def stop(self) -> None:
        self._display.stop()

    def _remove(self, experiment: Any) -> None:
        task = self._running.pop(experiment.key, None)
        if task is not None:
            self._display.remove_task(task)
