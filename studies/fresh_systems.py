"""Random systems of one sort, from a number on that no rule was made on, and new runs of each.

    numbered(141, is_disturbed, index)  # the number of the system that is so many of its sort
    train, unseen = with_new_runs(number)

A sort is a function of what was drawn (`facts` of the recording).
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import count, islice
from typing import Any

from prssm.data.record import Record
from prssm.data.simulators.random_systems import random_recording

RUNS = 10
ROWS = 500


@cache
def numbered(first: int, wanted: Callable[[Mapping[str, Any]], bool], index: int) -> int:
    """The number of the system, `index` wanted ones after the first, by what is known of each."""
    fitting = (number for number in count(first) if wanted(_facts(number)))
    return next(islice(fitting, index, None))


@cache
def _facts(number: int) -> Mapping[str, Any]:
    """What was drawn for a system; to draw it anew for every index would take minutes."""
    return random_recording(number).facts


def with_new_runs(number: int) -> tuple[Record, list[Record]]:
    """What is trained on, and new runs over inputs like those of the test part."""
    found = random_recording(number)
    return found.train, [found.again(found.test_moves, ROWS, seed) for seed in range(RUNS)]
