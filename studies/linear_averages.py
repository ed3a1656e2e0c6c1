r"""The mean of linear models of several orders, over a population of systems.

    PRSSM_DATA=... python studies/linear_averages.py --first 160 --docs docs/studies/subspace.md

Models of the orders that held-out halves can hardly tell apart run freely over rows that are not
learnt from, from six starts. The mean of the best two, three or four is taken always, or where its
runs over held-out stretches err less than the best model's by a share; 3 % of it ships
(`prssm.linear.averaging`). Errors are relative to the best alone. Of a recording the last third of
the training part is predicted: no test part is read. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from linear_orders import KINDS, RECORDINGS, Looks, errors_of, starts
from linear_study import by_kind, geometric_mean, kinds_of, run_study, titles, won

from prssm.data.scaling import Scaler
from prssm.linear.averaging import mean_error
from prssm.linear.order import look_again, ranked

MOST = 4
GAINS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
SHIPPED = 0.03


def study(kind: str, number: int) -> dict[str, Any]:
    """Errors of the best order, and of means of the best few, on held-out and on new rows."""
    train, unseen = KINDS[kind](number)
    scaler = Scaler.fit(train)
    looks = Looks([scaler.scale(record) for record in train])
    some = ranked(look_again(looks.path(3), looks.again))[:MOST]
    runs = [scaler.scale(run) for record in unseen for run in starts(record)]
    errors = [errors_of(looks.system(one.order), looks.train, runs) for one in some]
    halves = [one.held_out for one in some if one.held_out]
    seconds = [one.second for one in some if one.second]
    complete = [look for look in (halves, seconds) if len(look) == len(some)]
    counts = range(1, len(some) + 1)
    return {
        "kind": kind,
        "number": number,
        "rows": sum(map(len, train)),
        "orders": [one.order for one in some],
        "held_out": [[mean_error(look[:count]).rms for count in counts] for look in complete],
        "errors": [_rms(np.mean(errors[:count], axis=0)) for count in counts],
    }


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(errors**2)))


def taken(row: Mapping[str, Any], gain: float) -> int:
    """How many orders are taken together where their mean has to save this share."""
    if not row["held_out"]:
        return 1
    ratios = [np.array(look) / look[0] for look in row["held_out"]]
    relative = np.exp(np.mean(np.log(ratios), axis=0))
    best = int(np.argmin(relative))
    return best + 1 if relative[best] < 1.0 - gain else 1


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each rule: all systems, then each kind."""
    rows = list(rows)
    kinds = kinds_of(rows, KINDS)
    lines = [
        f"| the mean of the best few | all ({len(rows)}) | taken | worst | better : worse "
        f"| {titles(rows, kinds)} |",
        f"|---|---|---|---|---|{'---|' * len(kinds)}",
        _line("always", rows, kinds, [len(row["orders"]) for row in rows]),
    ]
    for gain in GAINS:
        title = f"if it saves {gain:.0%} where held out"
        title = f"**{title}** (ships)" if gain == SHIPPED else title
        lines.append(_line(title, rows, kinds, [taken(row, gain) for row in rows]))
    return "\n".join(lines)


def _line(title: str, rows: list[Mapping[str, Any]], kinds: list[str], together: list[int]) -> str:
    pairs = zip(rows, together, strict=True)
    ratios = np.array([row["errors"][count - 1] / row["errors"][0] for row, count in pairs])
    several = np.mean([count > 1 for count in together])
    of_all = f"{geometric_mean(ratios):.3f} | {several:.0%} | {ratios.max():.2f} | {won(ratios)}"
    return f"| {title} | {of_all} | {by_kind(ratios, rows, kinds)} |"


def main() -> None:
    run_study(
        __doc__,
        "linear_averages",
        KINDS,
        study=study,
        page=page,
        told=lambda row: f"{row['orders']} {row['errors']}",
        systems=8,
        recordings=len(RECORDINGS),
    )


if __name__ == "__main__":
    main()
