"""The mean of linear models of several orders, where held-out stretches say that it errs less.

Where disturbances are large, orders hardly differ on held-out stretches, and each of them has
fitted some of the disturbance. What they have in common is the system. So the best few are taken
together where the mean of their runs errs clearly less than the best alone:

    together = orders_together(judge_orders(...))     # the best first
    system = mean_of(systems)                         # one system again: their states side by side
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from prssm.linear.held_out import EXACT, HeldOutErrors
from prssm.linear.order import Judged, ranked
from prssm.linear.system import LinearSystem

_GAIN = 0.03  # of the held-out error, that the mean has to save; less may be chance
_MOST = 4  # orders
_MOST_STATES = 40  # of all of them, times outputs


def orders_together(judged: Sequence[Judged]) -> list[Judged]:
    """The best order alone, or the best few whose mean run errs clearly less where held out."""
    candidates = ranked(judged)[:_MOST]
    best = candidates[:1]
    least = 1.0 - _GAIN
    for count in range(2, len(candidates) + 1):
        some = candidates[:count]
        if not _can_be_averaged(some):
            break
        error = _relative_error(some)
        if error < least:
            best = some
            least = error
    return best


def mean_error(held_out: Sequence[HeldOutErrors]) -> HeldOutErrors:
    """Errors of the mean of runs over the same stretches."""
    errors = [np.mean(runs, axis=0) for runs in zip(*(one.errors for one in held_out), strict=True)]
    first = held_out[0]
    return HeldOutErrors(errors, first.warmup, first.max_radius, first.systems)


def mean_of(systems: Sequence[LinearSystem]) -> LinearSystem:
    """One system whose output is the mean of theirs; a single one is itself."""
    if len(systems) == 1:
        return systems[0]
    share = 1.0 / len(systems)
    return LinearSystem(
        block_diag(*(system.A for system in systems)),
        np.concatenate([system.B for system in systems]),
        share * np.concatenate([system.C for system in systems], axis=1),
        D=np.mean([system.D for system in systems], axis=0),
        offset=np.mean([system.offset for system in systems], axis=0),
    )


def _can_be_averaged(some: Sequence[Judged]) -> bool:
    """Whether all were held out, and together are not too large."""
    known = [one.held_out for one in some if one.held_out]
    if len(known) < len(some):
        return False
    outputs = known[0].errors[0].shape[1]
    return sum(one.order for one in some) * outputs <= _MOST_STATES


def _relative_error(some: Sequence[Judged]) -> float:
    """Error of the mean run relative to the first one's: the geometric mean over the looks."""
    looks = [[one.held_out for one in some], [one.second for one in some]]
    complete = [[found for found in look if found] for look in looks]
    ratios = [
        max(mean_error(look).rms, EXACT) / max(look[0].rms, EXACT)
        for look in complete
        if len(look) == len(some)
    ]
    return float(np.exp(np.mean(np.log(ratios))))
