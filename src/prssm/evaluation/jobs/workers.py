"""Local worker processes.

This module imports nothing heavy, so that a new process can set its threads before numpy loads.

A worker is given one job at a time. When its process dies (killed, out of memory, a crash in native
code), the parent knows which job it held, gives that job to a fresh process, and gives up on it
only after `MAX_ATTEMPTS` deaths.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from prssm.foundation.errors import PrssmError

MAX_ATTEMPTS = 3
_STOP_SECONDS = 5
_THREAD_VARIABLES = (
    "PRSSM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NPROC",
    "PJRT_NPROC",
)


@dataclass(frozen=True)
class Started:
    """A job was given to a process."""

    job: Any


@dataclass(frozen=True)
class Done:
    """A job has its result."""

    job: Any
    result: Any


@dataclass(frozen=True)
class Lost:
    """A job killed every process that tried it."""

    job: Any
    reason: str


Event = Started | Done | Lost


@dataclass
class _Task:
    """A job, and how often it has lost its process."""

    job: Any
    deaths: int = 0


@dataclass
class _Worker:
    process: Any
    connection: Connection
    ready: bool = False
    task: _Task | None = None


def run_in_processes(
    work: Callable[[Any], Any], jobs: Iterable[Any], workers: int
) -> Iterator[Event]:
    """Runs `work(job)` for all jobs on some processes; yields what happens.

    However it is left, it ends its processes.

    A job is asked for when a process is free, so that jobs may depend on the results before them.
    """
    team = _Team(work, jobs, workers)
    try:
        while True:
            team.fill()
            yield from team.assign()
            if not team.busy():
                return
            for worker in team.heard():
                yield from team.attend(worker)
    finally:
        team.end()


class _Team:
    """The processes, the jobs to come, and those that a dead process has left."""

    def __init__(self, work: Callable[[Any], Any], jobs: Iterable[Any], size: int) -> None:
        self.work = work
        self.size = size
        self.threads = max(1, (os.cpu_count() or 1) // size)
        self.to_come = iter(jobs)
        self.exhausted = False
        self.left: deque[_Task] = deque()
        self.failed_starts = 0
        self.members: list[_Worker] = []

    def held(self) -> int:
        return sum(worker.task is not None for worker in self.members)

    def busy(self) -> bool:
        return not self.exhausted or bool(self.left) or self.held() > 0

    def fill(self) -> None:
        """As many processes as there is work for."""
        wanted = min(self.size, len(self.left) + self.held()) if self.exhausted else self.size
        while len(self.members) < wanted:
            context = multiprocessing.get_context("spawn")  # JAX's threads do not survive a fork
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, self.threads), daemon=True)
            process.start()
            there.close()  # so that the end of the process is the end of the pipe
            with suppress(OSError):  # if it has died already, that is heard
                here.send(self.work)
            self.members.append(_Worker(process, here))

    def heard(self) -> list[_Worker]:
        """Those who have sent something or died."""
        readable = wait([worker.connection for worker in self.members])
        return [worker for worker in self.members if worker.connection in readable]

    def assign(self) -> Iterator[Event]:
        """Give jobs to all that are free, those left over by a dead process first."""
        for worker in self.members:
            if not worker.ready or worker.task is not None:
                continue
            task = self.next_task()
            if task is None:
                return
            worker.task = task
            with suppress(OSError):  # if it has just died, that is heard, and the job repeated
                worker.connection.send(task.job)
            yield Started(task.job)

    def next_task(self) -> _Task | None:
        if self.left:
            return self.left.popleft()
        if not self.exhausted:
            for job in self.to_come:
                return _Task(job)
            self.exhausted = True
        return None

    def attend(self, worker: _Worker) -> Iterator[Event]:
        """Take what a worker has sent: its result, or that it is ready."""
        try:
            result = worker.connection.recv()
        except (EOFError, OSError):
            yield from self.bury(worker)
            return
        task = worker.task
        worker.task = None
        worker.ready = True
        if task is not None:
            yield Done(task.job, result)

    def bury(self, worker: _Worker) -> Iterator[Event]:
        """A process has died: its job goes back to the front of the queue.

        It is lost if it was tried often enough.
        """
        worker.process.join()
        worker.connection.close()
        self.members.remove(worker)
        code = worker.process.exitcode
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts == MAX_ATTEMPTS:
                raise PrssmError(
                    f"worker processes end before they can start (exit code {code}); what they "
                    "said is above"
                )
        task = worker.task
        if task is None:
            return
        task.deaths += 1
        if task.deaths < MAX_ATTEMPTS:
            self.left.appendleft(task)
        else:
            yield Lost(
                task.job, f"its worker process died {MAX_ATTEMPTS} times (last exit code {code})"
            )

    def end(self) -> None:
        """End all processes: the idle at the closing of their pipe, the working by a signal."""
        for worker in self.members:
            worker.connection.close()
            if worker.task is not None or not worker.ready:
                worker.process.terminate()
        for worker in self.members:
            worker.process.join(_STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _serve(connection: Connection, threads: int) -> None:
    """What a worker process does: one job after the other until the parent closes the pipe."""
    # Ctrl-C reaches the whole group; the parent decides what happens
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for variable in _THREAD_VARIABLES:
        os.environ.setdefault(variable, str(threads))
    work = connection.recv()  # imports its module, after the threads are set
    result = None  # the first message only says that this process is ready
    while True:
        try:
            connection.send(result)
            job = connection.recv()
        except (EOFError, OSError):  # the parent has closed the pipe, or is gone
            return
        result = work(job)
