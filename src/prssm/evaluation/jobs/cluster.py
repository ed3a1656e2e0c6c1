"""The same jobs on a cluster: an address of a `dask.distributed` scheduler is all that changes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prssm.evaluation.jobs.workers import Done, Event, Lost, Started
from prssm.foundation.errors import MissingExtraError, OptionError
from prssm.foundation.version import __version__

_CONNECT_SECONDS = 10


class WorkerVersionError(OptionError):
    """A worker of the cluster runs another version of this package: results would not compare."""


def run_on_dask(work: Callable[[Any], Any], jobs: Iterable[Any], address: str) -> Iterator[Event]:
    """Runs `work(job)` for all jobs on a cluster; yields what happens.

    The scheduler repeats the jobs of a worker that dies.

    A list of jobs is handed over at once. Other jobs may depend on the results before them: they
    are asked for as threads of the cluster get free. The workers need this package in the same
    version, and where the work loads a data set by its name, the data folder (PRSSM_DATA) on their
    machines.
    """
    client = connect(address)
    to_come = iter(jobs)
    futures: dict[Any, Any] = {}
    try:
        from distributed import as_completed

        _check_versions(client)
        completed = as_completed(loop=client.loop)
        while True:
            room = (
                len(jobs)
                if isinstance(jobs, Sequence)
                else max(1, sum(client.nthreads().values())) - len(futures)
            )
            for _, job in zip(range(room), to_come):  # noqa: B905 - whichever ends first
                future = client.submit(_same_version, work, job, __version__, pure=False)
                futures[future] = job
                completed.add(future)
                yield Started(job)
            if not futures:
                return
            future = next(completed)
            yield _ended(futures.pop(future), future)
    finally:
        client.cancel(list(futures))
        client.close()


def _ended(job: Any, future: Any) -> Event:
    error = future.exception()
    if isinstance(error, WorkerVersionError):
        raise error
    return Done(job, future.result()) if error is None else Lost(job, _reason(error))


def _same_version(work: Callable[[Any], Any], job: Any, version: str) -> Any:
    """On the worker: for one that joins after the others were checked."""
    if __version__ != version:
        raise WorkerVersionError(_refusal("a worker", f"prssm {__version__}", version))
    return work(job)


def _check_versions(client: Any) -> None:
    """Asks all workers for their version of this package.

    The function travels by value, since they may not have this module.
    """

    def version() -> str:
        import importlib

        return importlib.import_module("prssm").__version__

    for worker, answer in client.run(version, on_error="return").items():
        if answer != __version__:
            runs = (
                "no prssm that can be imported"
                if isinstance(answer, BaseException)
                else f"prssm {answer}"
            )
            raise WorkerVersionError(_refusal(f"the worker {worker}", runs, __version__))


def _refusal(worker: str, runs: str, version: str) -> str:
    return (
        f"--dask: {worker} has {runs}, here is {version}; install the same version on all machines"
    )


def connect(address: str) -> Any:
    """A client of the scheduler at `address`, or a clear error."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError(
            "--dask needs the package dask[distributed]: pip install 'prssm[cluster]'"
        ) from None
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise OptionError(
            f"--dask: no scheduler answers at {address!r}: {' '.join(str(error).split())}"
        ) from None


def _reason(error: BaseException) -> str:
    return f"lost on the cluster: {type(error).__name__}: {' '.join(str(error).split())}"
