"""Progress as plain lines, for logs, pipes and notebooks: one now and then, with the time left."""

import sys
import time
from collections.abc import Callable, Mapping

EVERY = 10.0  # seconds between lines


class ProgressLines:
    """Writes a line on standard error every ten seconds; a fit that is quicker writes none."""

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._clock = clock
        self._last = clock()

    def start(self, total: int, done: int, label: str) -> None:
        """A phase begins; `done` of its `total` steps were done before."""
        self._total = total
        self._first = done
        self._label = label
        self._begun = self._clock()

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        """So many steps are done; the figures are the latest."""
        now = self._clock()
        if now - self._last < self._every:
            return
        self._last = now
        told = "".join(f", {name} {value:.4g}" for name, value in figures.items())
        left = told_seconds(self._left(done, now))
        print(
            f"prssm: {self._label}: {done} of {self._total}{told}, about {left} left",
            file=sys.stderr,
            flush=True,
        )

    def stop(self) -> None:
        """The phase ends."""

    def _left(self, done: int, now: float) -> float:
        """Seconds until the phase ends, at the pace so far."""
        pace = (now - self._begun) / max(done - self._first, 1)
        return pace * max(self._total - done, 0)


def told_seconds(seconds: float) -> str:
    """A time as a person says it: '40 s', '5 min', '2.5 h'."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"
