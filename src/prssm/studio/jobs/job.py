"""One training job: a command line, and what became of it; kept as a JSON file of the project.

States: queued -> running -> done, failed (with the reason) or stopped. A job whose process ended
while no studio was looking is interrupted. Stopped and interrupted jobs can be resumed.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from prssm.foundation.plain_json import write_json

QUEUED = "queued"
RUNNING = "running"
DONE = "done"
FAILED = "failed"
STOPPED = "stopped"
INTERRUPTED = "interrupted"
OPEN = (QUEUED, RUNNING)
RESUMABLE = (STOPPED, INTERRUPTED, FAILED)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is run, and how it stands.

    `words` are those after `prssm`; they hold in the project folder. `task` is what the page asked
    for, from which the same settings can be built again. `history` are the scores of the models on
    the way: seconds since the start and metrics.
    """

    id: str
    words: tuple[str, ...]
    model: str  # the file that it writes, within the project folder
    task: Mapping[str, Any] = field(default_factory=dict)
    state: str = QUEUED
    reason: str = ""
    pid: int | None = None
    mark: str = ""  # of the process, which tells it from a later one with the same number
    created: float = 0.0
    begun: float | None = None
    ended: float | None = None
    history: tuple[Mapping[str, Any], ...] = ()

    def changed(self, **parts: Any) -> Self:
        """The same job with some parts replaced."""
        return replace(self, **parts)

    def write(self, folder: Path) -> Self:
        """Keep it."""
        write_json(folder / f"{self.id}.json", asdict(self))
        return self

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """A job that was kept; None where a person has spoilt its file."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            found |= {name: tuple(found[name]) for name in ("words", "history")}
            return cls(**found)
        except (OSError, ValueError, TypeError, KeyError):
            return None
