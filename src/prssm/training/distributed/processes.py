"""One training run in several processes, on one machine or many.

Joining is global state of a process, so nothing here does it by itself: the command line or a user
calls `join` before JAX has computed anything. All processes then run the same program. Process 0
leads: it alone writes files and shows progress, and what it starts from is what all start from.
"""

import itertools
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from prssm.foundation.errors import OptionError, ProcessError
from prssm.foundation.version import __version__
from prssm.training.distributed import store, watch
from prssm.training.distributed.relay import relay_to

HEARTBEAT_SECONDS = 100  # without a sign of life JAX ends all processes; `watch` comes before
START_SECONDS = 300  # until all processes are there
_LOST = re.compile(
    r"gloo|nccl|connection|heartbeat|coordination|UNAVAILABLE|ABORTED|DEADLINE_EXCEEDED",
    re.IGNORECASE,
)
_exchange = itertools.count()  # every process makes the same exchanges in the same order


def join(
    coordinator: str = "auto", processes: int | None = None, process: int | None = None
) -> None:
    """Become one of the processes of a run.

    `auto` takes what is not given from SLURM, Open MPI or another scheduler. Returns when all are
    there and all have the same versions of prssm and JAX.
    """
    _check_words(coordinator, processes, process)
    # JAX's own handler of SIGTERM would keep ours from saving the run.
    jax.config.update("jax_enable_preemption_service", False)
    # under a scheduler JAX alone knows the address
    alone = coordinator == "auto" or process == 0
    address = coordinator if alone else relay_to(coordinator, watch.leader_lost)
    late = f"cannot join the run at coordinator {coordinator!r}: not all processes came within"
    try:
        with watch.ended_after(START_SECONDS, f"{late} {START_SECONDS} s"):
            jax.distributed.initialize(
                None if coordinator == "auto" else address,
                processes,
                process,
                # else process 0 would listen on all networks of its machine
                coordinator_bind_address=None if coordinator == "auto" else coordinator,
                initialization_timeout=2 * START_SECONDS,
                heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
            )
    except (ValueError, TypeError, RuntimeError, KeyError) as error:
        raise ProcessError(
            f"cannot join the run at coordinator {coordinator!r}: {store.first_line(error)}"
        ) from None
    watch.start()
    agree("versions", f"prssm {__version__} and jax {jax.__version__}")


def _check_words(coordinator: str, processes: int | None, process: int | None) -> None:
    if coordinator != "auto" and not re.fullmatch(r"\S+:\d+", coordinator):
        raise OptionError(
            f"coordinator: expected host:port of process 0, or 'auto', got {coordinator!r}"
        )
    if coordinator != "auto" and (processes is None or process is None):
        raise OptionError(
            "coordinator: expected with it how many processes there are and which one this is "
            "(--processes 2 --process 0), or 'auto' under a scheduler"
        )
    if processes is not None and processes < 1:
        raise OptionError(f"processes: expected at least 1, got {processes}")
    if process is not None and not 0 <= process < (processes or np.inf):
        raise OptionError(
            f"process: expected 0 to {processes - 1 if processes else 'the last'}, got {process}"
        )


def part() -> None:
    """The common work is done: wait for the others, then everyone is alone again."""
    if store.count() > 1:
        watch.stop()
        jax.distributed.shutdown()


def agree(what: str, text: str) -> None:
    """All processes must bring the same text; else all refuse to go on, with the same line."""
    if store.count() == 1:
        return
    turn = next(_exchange)
    store.put(f"exchange/{turn}/{store.own_index()}", text)
    texts = [_heard(f"exchange/{turn}/{process}") for process in range(store.count())]
    for process, other in enumerate(texts):
        if other != texts[0]:
            raise ProcessError(
                f"{what}: expected the same in all processes, "
                f"got {other[:60]!r} in process {process} and {texts[0][:60]!r} in process 0"
            )


def from_leader(tree: Any, seconds: float = START_SECONDS) -> Any:
    """Process 0's arrays in every process; their shapes need not be ours.

    The others wait so many seconds at most. Where process 0 works for longer before it comes here,
    say `math.inf`: its loss is noticed all the same.
    """
    if store.count() == 1:
        return tree
    from jax.experimental.multihost_utils import broadcast_one_to_all

    leaves, structure = jax.tree.flatten(tree)
    key = f"exchange/{next(_exchange)}"
    if store.leads():
        leaves = [np.asarray(leaf) for leaf in leaves]
        store.put(key, json.dumps([(leaf.shape, leaf.dtype.str) for leaf in leaves]))
    else:
        leaves = [np.zeros(shape, kind) for shape, kind in json.loads(_heard(key, seconds))]
    with noticing_losses():
        return jax.tree.unflatten(
            structure, [np.asarray(leaf) for leaf in broadcast_one_to_all(leaves)]
        )


def _heard(key: str, seconds: float = START_SECONDS) -> str:
    """What another process has put under `key`; where one has ended instead, `watch` ends us."""
    begun = time.monotonic()
    with noticing_losses():
        while time.monotonic() - begun < seconds:
            if (text := store.get(key, wait_seconds=1.0)) is not None:
                return text
    raise ProcessError(f"nothing was heard from another process for {seconds:g} s")


@contextmanager
def noticing_losses() -> Iterator[None]:
    """Errors of a computation with others that mean that one of them is gone."""
    try:
        yield
    except (ValueError, RuntimeError) as error:  # JAX raises either, with the transport's message
        if store.count() == 1 or isinstance(error, ProcessError) or not _LOST.search(str(error)):
            raise
        raise ProcessError(
            _last_words() or f"a process was lost ({_transport_words(error)})"
        ) from None


def _last_words() -> str | None:
    try:
        return store.last_words()
    except store.GONE:
        return None  # process 0 is the one that was lost


def _transport_words(error: BaseException) -> str:
    """What the transport itself said, without its own places.

    'UNKNOWN: Gloo all-reduce failed: [path/pair.cc:547] Connection closed ..' gives 'Connection
    closed ..'.
    """
    return re.split(r"\.cc:\d+\] ", store.first_line(error))[-1]
