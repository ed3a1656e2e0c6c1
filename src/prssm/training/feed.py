"""Data that do not fit in memory: read one chunk of iterations ahead.

The windows of the next chunk are read while the device computes.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import equinox as eqx


class PerIteration(eqx.Module):
    """Data of a chunk of iterations: arrays lead with the iteration."""

    chunk: Any


class Feed:
    """Gives what `draw(key, first)` reads for the chunk that begins at iteration `first`.

    It reads one chunk ahead, so that at most two are in memory. What is read depends on key and
    iteration alone, so a resumed run is the same run.
    """

    def __init__(self, draw: Callable[[Any, int], Any], step: int) -> None:
        self._draw = draw
        self._step = step
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="windows")
        self._ahead: tuple[Any, int, Future] | None = None
        self.waited = 0.0  # seconds for which training stood still

    def chunk(self, key: Any, first: int) -> PerIteration:
        begun = time.perf_counter()
        ahead = self._ahead
        self._ahead = None
        if ahead is not None and ahead[0] is key and ahead[1] == first:
            future = ahead[2]
        else:
            future = self._reader.submit(self._draw, key, first)
        found = future.result()
        self.waited += time.perf_counter() - begun
        self._ahead = (
            key,
            first + self._step,
            self._reader.submit(self._draw, key, first + self._step),
        )
        return PerIteration(found)

    def close(self) -> None:
        self._reader.shutdown(cancel_futures=True)
