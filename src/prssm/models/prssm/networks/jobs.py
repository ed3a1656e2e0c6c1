"""The table of jobs in which networks are trained, and what a checkpoint holds of it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from prssm.models.prssm.starts.network_start import Size

Path = tuple[Size, ...]  # the sizes that a network has had, the present one last


class Job(NamedTuple):
    """One network: what it is shown, where it starts, its sizes so far; at last on all rows."""

    fold: int
    seed: int
    path: Path
    last: bool = False

    @property
    def parent(self) -> "Job | None":
        """The network that it goes on from."""
        if self.last:
            return self._replace(last=False)
        return self._replace(path=self.path[:-1]) if len(self.path) > 1 else None

    def ancestors(self) -> "Iterator[Job]":
        """Its parent, the parent of that, and so on."""
        parent = self.parent
        while parent is not None:
            yield parent
            parent = parent.parent


class Result(NamedTuple):
    """A network's numbers, and how far its training was; `paused` is empty where that ended."""

    row: np.ndarray
    paused: np.ndarray


Table = Mapping[Job, Result]


def packed(table: Table) -> np.ndarray:
    """All jobs and their results as numbers in a row."""
    rows = [_packed(job, result) for job, result in table.items()]
    return np.concatenate([np.zeros(0), *rows])


def _packed(job: Job, result: Result) -> np.ndarray:
    sizes = np.array(job.path, dtype=float).ravel()
    head = [job.fold, job.seed, job.last, len(job.path)]
    return np.concatenate([head, sizes, [len(result.row), len(result.paused)], *result])


def unpacked(numbers: np.ndarray) -> dict[Job, Result]:
    """The jobs of such a row."""
    found: dict[Job, Result] = {}
    at = 0
    while at < len(numbers):
        fold, seed, last, length = (int(value) for value in numbers[at : at + 4])
        sizes = numbers[at + 4 : at + 4 + 2 * length].astype(int).reshape(length, 2)
        begin = at + 6 + 2 * length
        middle = begin + int(numbers[begin - 2])
        at = middle + int(numbers[begin - 1])
        path = tuple(Size(int(states), int(neurons)) for states, neurons in sizes)
        result = Result(numbers[begin:middle], numbers[middle:at])
        found[Job(fold, seed, path, bool(last))] = result
    return found


def taken_up(table: Table, here: set[Job]) -> tuple[dict[Job, Result], dict[Job, Result]]:
    """What is done, and what goes on: jobs that ran out of time before this run.

    `here` are those of this run: it takes them as they are. Networks that started from one that
    goes on are neither. They start anew from what it comes to.
    """
    stopped = {job for job, result in table.items() if len(result.paused)} - here
    done: dict[Job, Result] = {}
    going_on: dict[Job, Result] = {}
    for job, result in table.items():
        if not stopped.isdisjoint(job.ancestors()):
            continue
        (going_on if job in stopped else done)[job] = result
    return done, going_on
