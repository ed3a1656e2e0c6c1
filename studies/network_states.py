"""With how many states the smallest networks should start.

    python studies/network_states.py --first 600 --systems 96 --docs docs/studies/accuracy.md
    python studies/network_states.py --report-only

Each random system is fitted with levels that are hardly trained, so that networks are often kept,
once for each rule, and run ten times anew. The times are of whole fits. Recorded rows are not run
again.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from fresh_systems import with_new_runs
from linear_study import geometric_mean, run_study, won

from prssm import PRSSM, LinearSSM
from prssm.models.prssm.networks import race

QUICK = {"restarts": 1, "fold_restarts": 1, "iterations": 20}


class Rule(NamedTuple):
    """States that are tried: up to so many fewer than the linear model has, and some others."""

    fewer: int
    others: tuple[int, ...]


RULES = {
    "as many as the linear model, one and two fewer": Rule(2, ()),
    "also 2 and 3": Rule(2, (2, 3)),
    "also 2, 3 and 4": Rule(2, (2, 3, 4)),
}
BEFORE = next(iter(RULES))
ORDERS = {
    "linear model with 1 or 2 states": range(1, 3),
    "3 or 4": range(3, 5),
    "with 5 and more": range(5, 100),
}


def study(kind: str, index: int) -> dict[str, Any]:
    """Error over new runs, and seconds of the fit, by rule; the order of the linear model."""
    train, unseen = with_new_runs(index)
    row: dict[str, Any] = {"number": index, "order": LinearSSM().fit(train).order_}
    for name, rule in RULES.items():
        begun = time.perf_counter()
        with patch.multiple(race, FEWER=rule.fewer, SMALL=rule.others):
            model = PRSSM(**QUICK).fit(train)
        seconds = time.perf_counter() - begun
        error = model.evaluate(unseen)["nrmse"]
        row[name] = {"error": error, "seconds": seconds, "level": model.level_}
    return row


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each rule: errors and times as ratios to the first one, by the linear order."""
    rows = list(rows)
    groups = {
        name: [row for row in rows if row["order"] in orders] for name, orders in ORDERS.items()
    }
    heads = [f"{name} ({len(group)})" for name, group in groups.items() if group]
    lines = [
        f"| states that are tried | {' | '.join(heads)} | all | better : worse | time |",
        "|---" * (len(heads) + 4) + "|",
    ]
    for rule in RULES:
        ratios = [_ratios(group, rule, "error") for group in groups.values() if group]
        whole = np.concatenate(ratios)
        cells = [f"{geometric_mean(ratio):.3f}" for ratio in [*ratios, whole]]
        took = geometric_mean(_ratios(rows, rule, "seconds"))
        lines.append(f"| {rule} | {' | '.join(cells)} | {won(whole)} | {took:.2f} |")
    return "\n".join(lines)


def _ratios(rows: list[Mapping[str, Any]], rule: str, what: str) -> np.ndarray:
    return np.array([row[rule][what] / row[BEFORE][what] for row in rows])


def _told(row: Mapping[str, Any]) -> str:
    cells = [f"{row[rule]['error']:.4f} ({row[rule]['seconds']:.0f} s)" for rule in RULES]
    return f"order {row['order']}: " + ", ".join(cells)


def main() -> None:
    run_study(
        __doc__,
        "network_states",
        {"random": with_new_runs},
        study=study,
        page=page,
        told=_told,
        systems=96,
    )


if __name__ == "__main__":
    main()
