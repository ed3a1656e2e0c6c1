"""Progress for a program that watches from outside: JSON lines in a file.

    {"phase": "training", "done": 40, "total": 2000, "figures": {"ELBO": 1.2}, "seconds": 3.1}

A reader looks at the last whole line. Whoever starts a fit in another process names the file
(`prssm fit --progress FILE`) and reads it now and then.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

EVERY = 0.5  # seconds between lines of one phase


class ProgressFile:
    """Appends a line when a phase begins, and now and then while it goes on."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._begun = clock()
        self._last = -math.inf
        self._total = 0
        self._label = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")

    def phase(self, text: str) -> None:
        """Something without steps that can be counted goes on."""
        self._write({"phase": text})

    def start(self, total: int, done: int, label: str) -> None:
        """A phase begins; `done` of its `total` steps were done before."""
        self._total = total
        self._label = label
        self._write({"phase": label, "done": done, "total": total})

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        """So many steps are done; the figures are the latest."""
        if self._clock() - self._last < EVERY:
            return
        shown = {name: float(value) for name, value in figures.items() if math.isfinite(value)}
        self._write({"phase": self._label, "done": done, "total": self._total, "figures": shown})

    def stop(self) -> None:
        """The phase ends."""

    def _write(self, line: dict[str, object]) -> None:
        now = self._clock()
        self._last = now
        text = json.dumps({**line, "seconds": round(now - self._begun, 2)})
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(text + "\n")
