r"""Rules that choose how many states a linear model has, over a population of systems.

    PRSSM_DATA=... python studies/linear_orders.py --docs docs/studies/subspace.md
    PRSSM_DATA=... python studies/linear_orders.py --report-only

Orders are searched on held-out halves; most rules decide between those within 20 % of the least
error there. Models of the orders that any rule takes run freely over rows that are not learnt from,
from six starts. A rule's error is relative to the best of these orders in hindsight. Of a recording
the last third of the training part is predicted: no test part is read. A new rule is a function of
`Looks` and a line in `RULES`. Recorded rows are not run again.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from disturbed_systems import KINDS as DISTURBED
from generalisation import RECORDINGS, TASKS
from linear_order_systems import Parts, arm, several_outputs, structure
from linear_study import by_kind, geometric_mean, kinds_of, run_study, titles, won
from linear_systems import FAMILIES
from sizes import data as size_data

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.simulators.random_systems import random_recording
from prssm.data.splits import folds, split
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import FEW, Halves, SecondLook, first_good
from prssm.linear.order import Judged, best, further, largest_order, look_again, parameters
from prssm.linear.output_error import Identification, measured, squared_error
from prssm.linear.system import MAX_RADIUS, LinearSystem

WARMUP = 16
MOST_STATES = 20
PATIENCES = (2, 3, 4)
FIRST_NUMBER = 20  # of the systems of other studies: their first ones are not judged on again


def linear_family(name: str, number: int) -> Parts:
    made = FAMILIES[name](FIRST_NUMBER + number)
    return [made.train], [made.test]


def nonlinear(number: int) -> Parts:
    found = random_recording(300 + number)
    return [found.train], [found.test]


def one_arm(number: int) -> Parts:
    """The same arm, other rows: the study of sizes itself has those of number -1."""
    train, unseen, _ = size_data("flexible_arm", seed=1 + number)
    return train, unseen


def recording(number: int) -> Parts:
    train, unseen = TASKS[RECORDINGS[number]]()
    return list(train), list(unseen)


KINDS: dict[str, Callable[[int], Parts]] = {
    "general": lambda number: linear_family("general", number),
    "flexible": lambda number: linear_family("flexible", number),
    "several outputs": several_outputs,
    "arm": arm,
    "one arm": one_arm,
    "structure": structure,
    "nonlinear": nonlinear,
    **DISTURBED,
    "recordings": recording,
}


class Looks:
    """What a rule may know of the orders of some records; computed once when it is asked for."""

    def __init__(self, train: list[Record]) -> None:
        self.train = train
        self.orders = range(1, min(MOST_STATES, largest_order(train)) + 1)
        self._halves = Halves(train, WARMUP, starts=2)
        self.again = cache(SecondLook.quarters(train, WARMUP).hold_out)
        self._search = Identification(train)
        self.judged = cache(self._judged)
        self.glance = cache(self._halves.glance)
        self.system = cache(self._system)
        self.quarters = cache(self._quarters)
        # a search begins where that for the order before has ended: so the longest comes first
        self.path(max(PATIENCES), tie=False)

    def _judged(self, order: int) -> Judged:
        held_out = self._halves.hold_out(order)
        return Judged(order, held_out.rms if held_out else np.inf, held_out)

    def _system(self, order: int) -> LinearSystem:
        """The model of all rows."""
        held_out = self.judged(order).held_out
        return self._search.best(order, max_radius=held_out.max_radius if held_out else MAX_RADIUS)

    def path(self, patience: int, tie: bool = True) -> list[Judged]:
        """What a search judges that ends after so many orders without improvement."""
        found: list[Judged] = []
        for order in self.orders:
            found.append(self.judged(order))
            errors = [one.error for one in found]
            best = first_good(errors) if tie else int(np.argmin(errors))
            if len(found) - 1 - best >= patience:
                break
        most = FEW // self.train[0].output_dim
        rest = [o for o in self.orders if found[-1].order < o <= most and o % 2 == 0]
        return further(self.judged, found, {order: self.glance(order) for order in rest})

    def halves(self, order: int) -> float:
        return self.judged(order).error

    def _quarters(self, order: int) -> float:
        """That of halves where the data are too short."""
        held_out = self.judged(order).held_out
        second = self.again(held_out) if held_out else None
        return second.rms if second else self.halves(order)

    def stretches(self, order: int) -> np.ndarray:
        """Logarithms of the errors on each half and on each quarter."""
        held_out = self.judged(order).held_out
        looks = (held_out, self.again(held_out) if held_out else None)
        errors = [each for look in looks if look for each in look.errors]
        return np.array([0.5 * np.log(np.nanmean(each**2)) for each in errors])

    def both(self, order: int) -> float:
        """The geometric mean of errors on halves and on quarters."""
        return float(np.sqrt(self.halves(order) * self.quarters(order)))

    def best_start(self, order: int) -> float:
        """The error on halves where each run has the first state that fits it best."""
        held_out = self.judged(order).held_out
        errors = []
        for system, stretches in zip(held_out.systems, folds(self.train, 2), strict=True):
            shown, others = split(self.train, stretches)
            means = Scaler.fit(shown)
            for record in others:
                centred = Record(record.u - means.u_mean, record.y - means.y_mean)
                errors.append(system.nearest_run(centred)[1])
        return float(np.sqrt(np.nanmean(np.concatenate(errors) ** 2)))

    def bayes(self, order: int) -> float:
        """Bayes's criterion on all rows, as a deviation; see `linear.order.information`."""
        return self._criterion(order, float(measured(self.train)))

    def bayes_memory(self, order: int) -> float:
        """The same with as many rows as errors with a memory are worth."""
        correlation = InitialState.fit(self.system(order), self.train).correlation.mean()
        memory = float(np.clip(correlation, 0.0, 0.99))
        return self._criterion(order, measured(self.train) * (1.0 - memory) / (1.0 + memory))

    def _criterion(self, order: int, count: float) -> float:
        system = self.system(order)
        rms = np.sqrt(squared_error(system, self.train) / measured(self.train))
        penalty = 0.5 * parameters(system, len(self.train)) * np.log(count) / count
        return float(rms * np.exp(penalty))


def near(looks: Looks, patience: int = 3) -> list[int]:
    """Orders that halves can hardly tell apart."""
    return [one.order for one in look_again(looks.path(patience), lambda halves: None)]


def shipped(looks: Looks, patience: int = 3) -> int:
    """What a second look at quarters takes; another patience for comparison."""
    return best(look_again(looks.path(patience), looks.again)).order


def simplest(looks: Looks, chance: float = 1.0) -> int:
    """The fewest states that err at most so many standard errors more than what ships.

    Errors are compared in each stretch of halves and of quarters.
    """
    found = shipped(looks)
    for order in near(looks):
        more = looks.stretches(order) - looks.stretches(found)
        error = more.std(ddof=1) / np.sqrt(len(more))
        if order < found and len(more) > 2 and more.mean() <= chance * error:
            return order
    return found


def by(looks: Looks, errors: Callable[[int], float]) -> int:
    """Decided by other errors between orders that halves can hardly tell apart."""
    orders = near(looks)
    return orders[first_good([errors(order) for order in orders])]


RULES: dict[str, Callable[[Looks], int]] = {
    "halves, two orders of patience": lambda looks: best(looks.path(2, tie=False)).order,
    "halves, three": lambda looks: best(looks.path(3)).order,
    "halves, four": lambda looks: best(looks.path(4)).order,
    "halves and quarters, two": lambda looks: shipped(looks, patience=2),
    "halves and quarters, three": shipped,
    "halves and quarters, four": lambda looks: shipped(looks, patience=4),
    "simplest within half a standard error": lambda looks: simplest(looks, 0.5),
    "simplest within a standard error": simplest,
    "simplest within 1.5 standard errors": lambda looks: simplest(looks, 1.5),
    "halves and quarters, without doubt": lambda looks: by(looks, looks.both),
    "quarters": lambda looks: by(looks, looks.quarters),
    "halves with their best starts": lambda looks: by(looks, looks.best_start),
    "Bayes's criterion": lambda looks: by(looks, looks.bayes),
    "the same, errors have a memory": lambda looks: by(looks, looks.bayes_memory),
}
SHIPPED = "halves and quarters, three"
BEFORE = "halves, two orders of patience"


def study(kind: str, number: int) -> dict[str, Any]:
    """The order that each rule takes of one system, and the errors of these orders."""
    train, unseen = KINDS[kind](number)
    scaler = Scaler.fit(train)
    looks = Looks([scaler.scale(record) for record in train])
    chosen = {name: rule(looks) for name, rule in RULES.items()}
    runs = [scaler.scale(run) for record in unseen for run in starts(record)]
    orders = sorted({*chosen.values(), *near(looks, max(PATIENCES))})
    return {
        "kind": kind,
        "number": number,
        "rows": sum(map(len, train)),
        "orders": chosen,
        "errors": {str(order): error(looks.system(order), looks.train, runs) for order in orders},
    }


def starts(record: Record) -> list[Record]:
    """A run over all rows, one over the last half, and one over each quarter.

    Where there is little damping a run depends on its start as much as on the model.
    """
    edges = np.linspace(0, len(record), 5).astype(int)
    quarters = [record[begin:end] for begin, end in pairwise(edges)]
    return [record, record[edges[2] :], *quarters]


def error(system: LinearSystem, train: list[Record], runs: list[Record]) -> float:
    return float(np.sqrt(np.nanmean(errors_of(system, train, runs) ** 2)))


def errors_of(system: LinearSystem, train: list[Record], runs: list[Record]) -> np.ndarray:
    """Errors of free runs, one after the other."""
    start = InitialState.fit(system, train)
    errors = []
    for run in runs:
        x0, _ = start.estimate(system, run.u, run.y[:WARMUP])
        errors.append(run.y - system.simulate(x0, run.u)[0])
    return np.concatenate(errors)


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each rule: all systems, then each kind."""
    rows = list(rows)
    kinds = kinds_of(rows, KINDS)
    heads = titles(rows, kinds)
    lines = [
        f"| rule | all ({len(rows)}) | worst | better : worse than before | {heads} |",
        f"|---|---|---|---|{'---|' * len(kinds)}",
    ]
    for name in RULES:
        ratios = np.array([_ratio(row, name) for row in rows])
        change = ratios / np.array([_ratio(row, BEFORE) for row in rows])
        title = f"**{name}** (ships)" if name == SHIPPED else name
        of_all = f"{geometric_mean(ratios):.3f} | {ratios.max():.2f} | {won(change)}"
        lines.append(f"| {title} | {of_all} | {by_kind(ratios, rows, kinds)} |")
    return "\n".join(lines)


def _ratio(row: Mapping[str, Any], rule: str) -> float:
    errors = row["errors"]
    return float(errors[str(row["orders"][rule])] / min(errors.values()))


def main() -> None:
    run_study(
        __doc__,
        "linear_orders",
        KINDS,
        study=study,
        page=page,
        told=lambda row: f"{row['orders'][BEFORE]} {row['orders'][SHIPPED]}",
        systems=16,
        recordings=len(RECORDINGS),
    )


if __name__ == "__main__":
    main()
