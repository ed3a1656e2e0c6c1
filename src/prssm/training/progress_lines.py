"""Progress as plain lines, for logs, pipes and notebooks: one now and then, with the time left."""

import sys
import time
from collections.abc import Callable, Mapping

EVERY = 10.0  # seconds between lines


class TimeLeft:
    """How long a phase still takes: at the pace so far, and not beyond the end of a budget.

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

    def words(self, done: int) -> str:
        """What is left where so many steps are done, as a person says it."""
        now = self._clock()
        pace = (now - self._begun) / max(done - self._first, 1)
        left = pace * max(self._total - done, 0)
        if self._deadline is None:
            return f"about {told_seconds(left)} left"
        if now >= self._deadline:
            return "its time is over and it ends soon"
        return f"about {told_seconds(min(left, self._deadline - now))} left"


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
        left = self._time_left.words(done)
        print(
            f"prssm: {self._label}: {done} of {self._total}{told}, {left}",
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
