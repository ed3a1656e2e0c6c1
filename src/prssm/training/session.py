"""What surrounds a training run: who watches it, where it is saved, whether it is continued."""

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from jax.sharding import Mesh

from prssm.training.distributed import store
from prssm.training.distributed.devices import Devices, mesh_of
from prssm.training.progress_lines import ProgressLines, TimeLeft

FOR_ORDERS = 1.0 / 3.0  # share of a budget after which no further order of linear models is tried
FOR_MODELS = 0.4  # and after which these are made in a hurry


class Progress(Protocol):
    """Watches a training run."""

    def start(self, total: int, done: int, label: str) -> None: ...
    def update(self, done: int, figures: Mapping[str, float]) -> None: ...
    def stop(self) -> None: ...


class Silent:
    """The watcher that says nothing."""

    def start(self, total: int, done: int, label: str) -> None: ...
    def update(self, done: int, figures: Mapping[str, float]) -> None: ...
    def stop(self) -> None: ...


class ProgressBar:
    """A bar on standard error with the latest figures beside it."""

    def __init__(self, deadline: float | None = None) -> None:
        self._time_left = TimeLeft(deadline)

    def start(self, total: int, done: int, label: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[figures]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(label, total=total, completed=done, left="", figures="")
        self._time_left.start(total, done)
        self._bar.start()

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        text = "  ".join(f"{name} {value:.4g}" for name, value in figures.items())
        left = self._time_left.words(done)
        self._bar.update(self._task, completed=done, left=left, figures=text)

    def stop(self) -> None:
        self._bar.stop()


def shown(deadline: float | None = None) -> Progress:
    """A bar on a terminal (or where FORCE_COLOR or TTY_COMPATIBLE says so), else lines.

    The time left that they tell is none after the deadline.
    """
    from rich.console import Console

    if Console(stderr=True).is_terminal:
        return ProgressBar(deadline)
    return ProgressLines(deadline=deadline)


@dataclass(frozen=True)
class Session:
    """How one training run is watched, saved, continued and split.

    `checkpoint` is a file that training rewrites every `checkpoint_seconds`; `resume` continues
    from it, if it is there. `mesh` holds the devices between which training is split; None is one
    device. `deadline` is the moment (of `time.monotonic`) at which a budget of time ends. `found`
    is called with every model that is better than those before it, while training goes on.
    `label` names the phase.
    """

    progress: Progress
    checkpoint: Path | None = None
    resume: bool = False
    checkpoint_seconds: float = 5.0
    mesh: Mesh | None = None
    deadline: float | None = None
    found: Callable[[Any], None] = lambda model: None
    label: str = "training"  # the name of the phase, for the watcher

    def seconds_left(self) -> float | None:
        """Of the budget, if there is one; never less than zero."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def leaving(self, share: float, most: float = math.inf, *, least: float = 0.0) -> "Session":
        """The same, if it has a budget with an earlier end: a share of it is left to what follows.

        That is `most` seconds at most. Where it would be less than `least`, too little for what
        follows, nothing is left.
        """
        left = self.seconds_left()
        if self.deadline is None or left is None or math.isinf(left) or share * left < least:
            return self
        return replace(self, deadline=self.deadline - min(share * left, most))

    def after(self, share: float) -> Callable[[], bool]:
        """Says whether this share of what is left now of the budget is used; never without one."""
        left = self.seconds_left()
        if left is None:
            return lambda: False
        end = time.monotonic() + share * left
        return lambda: time.monotonic() >= end

    @classmethod
    def of(
        cls,
        progress: "bool | Progress",
        checkpoint: str | os.PathLike[str] | None,
        resume: bool,
        *,
        devices: Devices = None,
        deadline: float | None = None,
    ) -> "Session":
        watcher: Progress
        if isinstance(progress, bool):
            watcher = shown(deadline) if progress else Silent()
        else:
            watcher = progress
        return cls(
            watcher if store.leads() else Silent(),
            None if checkpoint is None else Path(checkpoint),
            resume,
            mesh=mesh_of(devices),
            deadline=deadline,
        )
