"""Local worker processes. This module imports nothing heavy, so that a new process can set its threads before numpy loads.

A worker is given one job at a time. When its process dies (killed, out of memory, a crash in native code), the parent
knows which job it held, gives that job to a fresh process, and gives up on it only after `MAX_ATTEMPTS` deaths.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from prssm.foundation.errors import PrssmError

MAX_ATTEMPTS = 3
_STOP_SECONDS = 5
_THREAD_VARIABLES = ("PRSSM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", "PJRT_NPROC")


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
class _Worker:
    process: Any
    connection: Connection
    ready: bool = False
    job: int | None = None  # position in the list of jobs


def run_in_processes(work: Callable[[Any], Any], jobs: Sequence[Any], workers: int) -> Iterator[Event]:
    """Run `work(job)` for all jobs on some processes; yields what happens. Ends its processes however it is left."""
    team = _Team(work, jobs, workers)
    try:
        while team.busy():
            team.fill()
            yield from team.assign()
            for worker in team.heard():
                yield from team.attend(worker)
    finally:
        team.end()


class _Team:
    """The processes, the jobs that wait, and how often each job has lost its process."""

    def __init__(self, work: Callable[[Any], Any], jobs: Sequence[Any], size: int) -> None:
        self.work, self.jobs, self.size = work, jobs, size
        self.threads = max(1, (os.cpu_count() or 1) // size)
        self.waiting = deque(range(len(jobs)))
        self.deaths = [0] * len(jobs)
        self.failed_starts = 0
        self.members: list[_Worker] = []

    def busy(self) -> bool:
        return bool(self.waiting) or any(worker.job is not None for worker in self.members)

    def fill(self) -> None:
        """As many processes as there is work for."""
        wanted = min(self.size, len(self.waiting) + sum(worker.job is not None for worker in self.members))
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
        """Give waiting jobs to all that are free, those left over by a dead process too."""
        for worker in self.members:
            if worker.ready and worker.job is None and self.waiting:
                worker.job = self.waiting.popleft()
                with suppress(OSError):  # if it has just died, that is heard, and the job repeated
                    worker.connection.send(self.jobs[worker.job])
                yield Started(self.jobs[worker.job])

    def attend(self, worker: _Worker) -> Iterator[Event]:
        """Take what a worker has sent: its result, or that it is ready."""
        try:
            result = worker.connection.recv()
        except (EOFError, OSError):
            yield from self.bury(worker)
            return
        job, worker.job, worker.ready = worker.job, None, True
        if job is not None:
            yield Done(self.jobs[job], result)

    def bury(self, worker: _Worker) -> Iterator[Event]:
        """A process has died: its job goes back to the front of the queue, or is lost if it was tried often enough."""
        worker.process.join()
        worker.connection.close()
        self.members.remove(worker)
        code = worker.process.exitcode
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts == MAX_ATTEMPTS:
                raise PrssmError(f"worker processes end before they can start (exit code {code}); what they said is above")
        if worker.job is None:
            return
        self.deaths[worker.job] += 1
        if self.deaths[worker.job] < MAX_ATTEMPTS:
            self.waiting.appendleft(worker.job)
        else:
            yield Lost(self.jobs[worker.job], f"its worker process died {MAX_ATTEMPTS} times (last exit code {code})")

    def end(self) -> None:
        """End all processes: the idle at the closing of their pipe, the working by a signal."""
        for worker in self.members:
            worker.connection.close()
            if worker.job is not None or not worker.ready:
                worker.process.terminate()
        for worker in self.members:
            worker.process.join(_STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _serve(connection: Connection, threads: int) -> None:
    """A worker process's life: learn the work, then do one job after the other until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what happens
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
