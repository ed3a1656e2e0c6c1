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

MAX_ATTEMPTS = 3
_STOP_SECONDS = 5
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", "PJRT_NPROC")


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


@dataclass
class _Worker:
    process: Any
    connection: Connection
    job: Any = None


def run_in_processes(work: Callable[[Any], Any], jobs: Sequence[Any], workers: int) -> Iterator[Started | Done | Lost]:
    """Run `work(job)` for all jobs on some processes; yields what happens. Ends its processes however it is left."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    waiting = deque(jobs)
    attempts: dict[int, int] = {}
    team: list[_Worker] = []
    try:
        while waiting or team:
            while waiting and len(team) < workers:
                team.append(_start(threads))
                yield from _give(team[-1], work, waiting)
            for worker in _ready(team):
                yield from _hear(worker, work, waiting, attempts)
            team = [worker for worker in team if worker.job is not None]
    finally:
        _end(team)


def _start(threads: int) -> _Worker:
    context = multiprocessing.get_context("spawn")  # JAX's threads do not survive a fork
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, threads), daemon=True)
    process.start()
    there.close()  # so that the end of the process is the end of the pipe
    return _Worker(process, here)


def _give(worker: _Worker, work: Callable[[Any], Any], waiting: deque[Any]) -> Iterator[Started]:
    """Hand the next job to a worker; without one, let the process go."""
    worker.job = waiting.popleft() if waiting else None
    if worker.job is None:
        _end([worker])
        return
    with suppress(OSError):  # if the process has just died, its end is seen, and the job repeated, when we listen
        worker.connection.send((work, worker.job))
    yield Started(worker.job)


def _ready(team: Sequence[_Worker]) -> list[_Worker]:
    readable = wait([worker.connection for worker in team])
    return [worker for worker in team if worker.connection in readable]


def _hear(worker: _Worker, work: Callable[[Any], Any], waiting: deque[Any],
          attempts: dict[int, int]) -> Iterator[Started | Done | Lost]:
    job = worker.job
    try:
        result = worker.connection.recv()
    except (EOFError, OSError):
        yield from _bury(worker, waiting, attempts)
        return
    yield Done(job, result)
    yield from _give(worker, work, waiting)


def _bury(worker: _Worker, waiting: deque[Any], attempts: dict[int, int]) -> Iterator[Lost]:
    """A process has died: its job goes back to the front of the queue, or is lost if it was tried often enough."""
    worker.process.join()
    job, worker.job = worker.job, None
    attempts[id(job)] = attempts.get(id(job), 0) + 1
    if attempts[id(job)] < MAX_ATTEMPTS:
        waiting.appendleft(job)
    else:
        yield Lost(job, f"its worker process died {MAX_ATTEMPTS} times (last exit code {worker.process.exitcode})")
    worker.connection.close()


def _end(team: Sequence[_Worker]) -> None:
    for worker in team:
        worker.connection.close()
        if worker.job is not None:
            worker.process.terminate()
    for worker in team:
        worker.process.join(_STOP_SECONDS)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _serve(connection: Connection, threads: int) -> None:
    """A worker process's life: receive a job, do it, send the result, until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what happens
    for variable in _THREAD_VARIABLES:
        os.environ.setdefault(variable, str(threads))
    while True:
        try:
            work, job = connection.recv()  # imports the work's module, after the threads are set
        except EOFError:
            return
        result = work(job)
        try:
            connection.send(result)
        except OSError:  # the parent has gone: nobody records this any more
            return
