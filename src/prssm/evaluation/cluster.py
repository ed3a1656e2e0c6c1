"""The same jobs on a cluster: an address of a `dask.distributed` scheduler is all that changes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prssm.evaluation.workers import Done, Event, Lost, Started
from prssm.foundation.errors import MissingExtraError, OptionError

_CONNECT_SECONDS = 10


def run_on_dask(work: Callable[[Any], Any], jobs: Sequence[Any], address: str) -> Iterator[Event]:
    """Run `work(job)` for all jobs on the cluster's workers; the scheduler repeats the jobs of a worker that dies.

    The workers need this package and the data folder (PRSSM_DATA) on their machines.
    """
    client = connect(address)
    futures = {}
    try:
        from distributed import as_completed

        futures = {client.submit(work, job, pure=False): job for job in jobs}
        for job in jobs:
            yield Started(job)
        for future in as_completed(list(futures), loop=client.loop):
            error = future.exception()
            yield Lost(futures[future], _reason(error)) if error is not None else Done(futures[future], future.result())
    finally:
        client.cancel(list(futures))
        client.close()


def connect(address: str) -> Any:
    """A client of the scheduler at `address`, or a clear error."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("--dask needs the package dask[distributed]: pip install 'prssm[cluster]'") from None
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise OptionError(f"--dask: no scheduler answers at {address!r}: {' '.join(str(error).split())}") from None


def _reason(error: BaseException) -> str:
    return f"lost on the cluster: {type(error).__name__}: {' '.join(str(error).split())}"
