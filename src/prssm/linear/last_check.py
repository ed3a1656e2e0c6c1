"""A last check of a linear model: it must run well over its own records from a start as users have.

A search gives each record the first state that suits it best. With a mode that hardly fades this
first state and the mode together fit a drift of the record. Nobody knows such a state beforehand: a
free run begins with one that is estimated from some outputs, and the mode carries it astray.

    system = checked(search, system, warmup=16, max_radius=limit)
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import RADII
from prssm.linear.output_error import Identification, measured, squared_error
from prssm.linear.system import LinearSystem, spectral_radius

_SUSPECT = 1.2  # times the error with the best first states, from which a model is looked at
_GAIN = 0.05  # of that error of started runs by which faster modes must lower it
_LEAST_WARMUPS = 3  # of a run: a shorter one tells more of its first state than of the model


def checked(
    search: Identification, found: LinearSystem, *, warmup: int, max_radius: float
) -> LinearSystem:
    """The system, or one of the same order whose modes fade faster, where that runs better.

    `search` has the records, `found` is what it found under the limit `max_radius` of the poles.
    """
    records = search.records
    error = started_error(found, records, warmup)
    best_starts = np.sqrt(squared_error(found, records) / measured(records))
    if error < _SUSPECT * best_starts:
        return found
    best = found
    for limit in RADII:
        if limit >= max_radius or spectral_radius(found.A) <= limit:
            continue  # the limit would change nothing
        try:
            other = search.best(
                found.order, starts=2, random_starts=0, max_radius=limit, near=[found]
            )
        except (TrainingError, np.linalg.LinAlgError):  # no such system; what was found stays
            continue
        other_error = started_error(other, records, warmup)
        if other_error < (1.0 - _GAIN) * error:
            best = other
            error = other_error
    return best


def started_error(system: LinearSystem, records: Sequence[Record], warmup: int) -> float:
    """Error of free runs over the records, their last halves and their quarters.

    Each begins with the first state that its first `warmup` outputs tell. Root mean square.
    """
    start = InitialState.fit(system, records)
    errors = []
    for record in records:
        for run in _runs(record, _LEAST_WARMUPS * warmup):
            x0, _ = start.estimate(system, run.u, run.y[:warmup])
            errors.append(run.y - system.simulate(x0, run.u)[0])
    return float(np.sqrt(np.nanmean(np.concatenate(errors) ** 2)))


def _runs(record: Record, least: int) -> list[Record]:
    """The record, and those parts of it that have the least number of rows."""
    edges = np.linspace(0, len(record), 5).astype(int)
    parts = [(edges[2], edges[4]), *pairwise(edges)]
    long = [(begin, end) for begin, end in parts if end - begin >= max(least, 2)]
    return [record, *(record[begin:end] for begin, end in long)]
