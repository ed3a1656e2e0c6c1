"""What all adapters share: the task comes in as a file, the free run goes out as one.

An adapter runs in the environment of its package, so this file needs NumPy alone. A new one has
two functions and a last line:

    fit(task)                     -> (model, how it was chosen in a few words)
    simulate(model, u, y_start)   -> outputs (T, Dy) of a free run that only y_start begins
    adapter.main(fit, simulate)

The outputs of the test part after the first rows are not in the file: nobody can look.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

_SHARE = 0.75  # of the training part; a package's own choices are judged on the rest


@dataclass(frozen=True)
class Task:
    """Inputs (T, Du) and outputs (T, Dy) to learn from, and how long that may take."""

    u: np.ndarray
    y: np.ndarray
    start: int
    deadline: float

    @property
    def cut(self) -> int:
        """The first row that is held out."""
        return int(_SHARE * len(self.u))

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.deadline - time.monotonic()


Simulate = Callable[[Any, np.ndarray, np.ndarray], np.ndarray]


def held_out_error(task: Task, model: Any, simulate: Simulate) -> float:
    """Error of a free run over the tail of the training part, from its first rows."""
    u = task.u[task.cut :]
    y = task.y[task.cut :]
    try:
        run = simulate(model, u, y[: task.start])
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return np.inf  # it ran away
    error = np.sqrt(np.mean((run[task.start :] - y[task.start :]) ** 2))
    return float(error) if np.isfinite(error) else np.inf


def best_of(
    task: Task,
    choices: Iterable[Any],
    train: Callable[[Any, np.ndarray, np.ndarray], Any],
    simulate: Simulate,
) -> Any:
    """The choice whose model of the first part runs best over the held-out tail.

    No further one is tried once half of the time is spent: the rest is for the final model.
    """
    half = task.left / 2.0
    errors = {}
    for choice in choices:
        if errors and task.left < half:
            break
        try:
            model = train(choice, task.u[: task.cut], task.y[: task.cut])
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue  # such as: too many terms for so few rows
        errors[choice] = held_out_error(task, model, simulate)
    return min(errors, key=lambda choice: errors[choice])


def main(fit: Callable[[Task], tuple[Any, str]], simulate: Simulate) -> None:
    """Words of the command line: the task's file, the result's file, seconds, rows that start."""
    source, target, seconds = sys.argv[1:4]
    data = np.load(source)
    begun = time.monotonic()
    task = Task(data["u"], data["y"], len(data["y_start"]), begun + float(seconds))
    model, chosen = fit(task)
    wall = time.monotonic() - begun
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(one.ru_utime + one.ru_stime for one in used)
    try:
        run = np.asarray(simulate(model, data["u_test"], data["y_start"]), dtype=float)
    except (ArithmeticError, ValueError):
        run = np.full((len(data["u_test"]), data["y"].shape[1]), np.nan)  # it ran away
    facts = {"wall_s": wall, "processor_s": processor, "chosen": chosen}
    np.savez(target, run=run, facts=json.dumps(facts))
