"""How many states a linear model should have, and how large its errors are.

Both are judged on held-out training data.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear.held_out import FEW, Halves, HeldOutErrors, SecondLook, as_good, first_good
from prssm.linear.output_error import identify, measured, squared_error
from prssm.linear.system import LinearSystem

_LEAST_ROWS = 4  # measured values for each parameter of the largest order that is tried
_PATIENCE = 3  # orders without improvement before the search ends
_JUMP = 0.8  # times the least error so far that an order far beyond it has to reach
_NEARLY = 0.2  # of the least error on halves, by which an order may be worse and still win
_MOST = 4  # such orders
_DOUBT = 0.06  # by which another order's error is raised beside that of the order that halves take


def largest_order(records: Sequence[Record]) -> int:
    """The most states that are worth a try.

    When a stretch is held out, what is left to fit to must still outnumber the parameters.
    """
    per_state = records[0].input_dim + records[0].output_dim + 1
    return max(1, measured(records) // (_LEAST_ROWS * per_state))


class Judged(NamedTuple):
    """An order, its error, and the held-out errors that this is taken from.

    There are none of these where the data are too short.
    """

    order: int
    error: float
    held_out: HeldOutErrors | None
    second: HeldOutErrors | None = None  # of a second look, where there was one


def judge_orders(
    records: Sequence[Record],
    orders: Sequence[int],
    warmup: int,
    starts: int,
    report: Callable[[int, float], None] = lambda order, error: None,
    longer: Sequence[Record] = (),
    *,
    enough: Callable[[], bool] = lambda: False,
) -> list[Judged]:
    """Those of the `orders` (ascending) that may be the best, with their errors.

    The search ends where more states stop helping. A resonance needs two states, and several that
    are alike help only together: a glance at larger orders then tells whether to go on.

    Where `records` are pieces of long data, `longer` are more of these: they decide between the
    orders that the pieces can hardly tell apart.

    Once `enough` says so (a budget of time ends) searches end and nothing more is begun: what was
    judged by then is all there is, at least one order. Where errors still fell, glances at larger
    orders are added.
    """

    halves = Halves(records, warmup, starts, enough)

    def judge(order: int) -> Judged:
        try:
            held_out = halves.hold_out(order)
            error = held_out.rms if held_out else information(records, order, starts)
        except TrainingError:  # the data determine no system of this order
            held_out = None
            error = np.inf
        report(order, error)
        return Judged(order, error, held_out)

    judged = until_no_better(judge, orders, enough)
    # resonances come in pairs of states, so half of the orders will do
    rest = [order for order in orders if judged[-1].order < order and order % 2 == 0]
    if enough():
        return with_glimpse(judged, halves.glimpse, rest)
    most = FEW // records[0].output_dim
    rest = [order for order in rest if order <= most]
    glances = {order: halves.glance(order) for order in rest if not enough()}
    judged = further(judge, judged, glances, enough)
    if longer:
        second = SecondLook.longer(longer, warmup, enough)
        return look_again(judged, second.hold_out, alone=True, enough=enough)
    quarters = SecondLook.quarters(records, warmup, enough)
    return look_again(judged, quarters.hold_out, enough=enough)


def until_no_better(
    judge: Callable[[int], Judged],
    orders: Sequence[int],
    enough: Callable[[], bool] = lambda: False,
) -> list[Judged]:
    """What is judged of the orders in turn.

    It ends when some in a row are no better than one before them, but for what is chance.
    """
    judged: list[Judged] = []
    for index, order in enumerate(orders):
        judged.append(judge(order))
        if index - first_good([one.error for one in judged]) >= _PATIENCE or enough():
            break
    return judged


def further(
    judge: Callable[[int], Judged],
    judged: Sequence[Judged],
    glances: Mapping[int, float],
    enough: Callable[[], bool] = lambda: False,
) -> list[Judged]:
    """What was judged, and larger orders from the most promising glance on while they gain much.

    Much, because a few per cent of an error on held-out data are chance, and many states are not
    free.
    """
    found = list(judged)
    for order in sorted(glances, key=lambda order: glances[order]):
        least = min(one.error for one in found)
        if not glances[order] < least or enough():
            break
        one = judge(order)
        if not one.error < _JUMP * least:
            break
        found.append(one)
    return sorted(found, key=lambda one: one.order)


def with_glimpse(
    judged: Sequence[Judged],
    glimpse: Callable[[int], HeldOutErrors | None],
    orders: Sequence[int],
) -> list[Judged]:
    """What was judged until a clock ended it, and a larger order if subspace estimates gain much.

    They take little time. Of those that are nearly as good the smallest one is taken.
    """
    if best(judged) is not judged[-1]:  # more states had stopped helping
        return list(judged)
    seen = [(order, glimpse(order)) for order in orders]
    found = [Judged(order, held_out.rms, held_out) for order, held_out in seen if held_out]
    near = [found[index] for index in as_good([one.error for one in found], _NEARLY)]
    if not near or not near[0].error < _JUMP * judged[-1].error:
        return list(judged)
    return [*judged, near[0]]


def look_again(
    judged: Sequence[Judged],
    again: Callable[[HeldOutErrors], HeldOutErrors | None],
    *,
    alone: bool = False,
    enough: Callable[[], bool] = lambda: False,
) -> list[Judged]:
    """The orders that halves can hardly tell apart, by the errors of a second look.

    Their error becomes that of the second look where it decides `alone`, else the geometric mean of
    both: of the same rows halves are the harder test, and shorter stretches show what more rows
    support. Then only what is clearly better takes the place of the order that halves would take.
    """
    nearly = [judged[index] for index in as_good([one.error for one in judged], _NEARLY)]
    if not nearly:
        return list(judged)
    least = sorted(nearly, key=lambda one: one.error)[:_MOST]
    nearly = sorted(least, key=lambda one: one.order)
    if len(nearly) == 1:
        return nearly
    first = best(nearly)
    found: list[Judged] = []
    for one in nearly:
        if enough():  # errors of one look and of two do not compare
            return nearly
        try:
            second = again(one.held_out) if one.held_out else None
        except TrainingError:  # more rows determine no system of this order
            found.append(one._replace(error=np.inf))
            continue
        if second is None:  # too short, or an output is missing from a stretch
            return nearly
        doubt = 1.0 if one is first else 1.0 + _DOUBT
        error = second.rms if alone else doubt * float(np.sqrt(one.error * second.rms))
        found.append(one._replace(error=error, second=second))
    return found


def best(judged: Sequence[Judged]) -> Judged:
    """The smallest order whose error is as good as the best."""
    return judged[first_good([one.error for one in judged])]


def ranked(judged: Sequence[Judged]) -> list[Judged]:
    """The best, then others that are nearly as good, by their errors."""
    first = best(judged)
    limit = min(one.error for one in judged) * (1.0 + _NEARLY)
    others = [one for one in judged if one is not first and one.error <= limit]
    return [first, *sorted(others, key=lambda one: one.error)]


def information(records: Sequence[Record], order: int, starts: int) -> float:
    """An error inflated for the number of parameters, for data too short to hold out.

    By Bayes's criterion, as a deviation.
    """
    system = identify(records, order, starts=starts, random_starts=0)
    count = measured(records)
    rms = np.sqrt(squared_error(system, records) / count)
    return float(rms * np.exp(0.5 * parameters(system, len(records)) * np.log(count) / count))


def parameters(system: LinearSystem, records: int) -> int:
    """The number of free parameters.

    Those that no change of the state's coordinates can undo, and the first states.
    """
    outputs, inputs = system.D.shape
    return system.order * (inputs + outputs + records) + outputs * (inputs + 1)
