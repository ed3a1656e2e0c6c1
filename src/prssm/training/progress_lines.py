"""Progress as plain lines, for logs, pipes and notebooks: one now and then, with the time left."""

import sys
import time
from collections.abc import Callable, Mapping

EVERY = 10.0  # seconds between lines


class TimeLeft:
    """Seconds until a phase ends: at the pace so far, and not after the end of a budget of time.

    `deadline` is a moment of the clock; None is no budget.
    """

    def __init__(
        self, deadline: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._deadline = deadline
        self._clock = clock

    def start(self, total: int, done: int) -> None:
        """A phase begins; `done` of its `total` steps were done before."""
        self._total = total
        self._first = done
        self._begun = self._clock()

    def after(self, done: int) -> float:
        """What is left where so many steps are done."""
        now = self._clock()
        pace = (now - self._begun) / max(done - self._first, 1)
        left = pace * max(self._total - done, 0)
        return left if self._deadline is None else min(left, max(self._deadline - now, 0.0))


class ProgressLines:
    """Writes a line on standard error every ten seconds; a fit that is quicker writes none."""

    def __init__(
        self,
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
        deadline: float | None = None,
    ) -> None:
        self._every = every
        self._clock = clock
        self._last = clock()
        self._time_left = TimeLeft(deadline, clock)

    def start(self, total: int, done: int, label: str) -> None:
        """A phase begins; `done` of its `total` steps were done before."""
        self._total = total
        self._label = label
        self._time_left.start(total, done)

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        """So many steps are done; the figures are the latest."""
        now = self._clock()
        if now - self._last < self._every or done >= self._total:
            return
        self._last = now
        told = "".join(f", {name} {value:.4g}" for name, value in figures.items())
        left = told_seconds(self._time_left.after(done))
        print(
            f"prssm: {self._label}: {done} of {self._total}{told}, about {left} left",
            file=sys.stderr,
            flush=True,
        )

    def stop(self) -> None:
        """The phase ends."""


def told_seconds(seconds: float) -> str:
    """A time as a person says it: '40 s', '5 min', '2.5 h'."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"
