r"""What the last check of linear models is worth on rows that are not learnt from.

    PRSSM_DATA=... python studies/last_check.py --first 60 --docs docs/studies/subspace.md
    python studies/last_check.py --report-only

See `prssm.linear.last_check`. For each system of `linear_orders.KINDS` models of the orders that
held-out halves hardly tell apart are fitted as ever, and checked. Errors are of free runs over
unseen rows from six starts, relative to those without the check. Recorded rows are not run again.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from linear_orders import KINDS, WARMUP, Looks, error, near, shipped, starts
from linear_study import geometric_mean, run_study

from prssm.data.scaling import Scaler
from prssm.linear.last_check import checked
from prssm.linear.output_error import Identification


def study(kind: str, number: int) -> dict[str, Any]:
    """Errors of models before and after the check, and seconds of the processor that it took."""
    train, unseen = KINDS[kind](number)
    scaler = Scaler.fit(train)
    looks = Looks([scaler.scale(record) for record in train])
    search = Identification(looks.train)
    runs = [scaler.scale(run) for record in unseen for run in starts(record)]
    row: dict[str, Any] = {"kind": kind, "number": number, "shipped": shipped(looks)}
    row["orders"] = {}
    for order in near(looks):
        before = looks.system(order)
        begun = time.process_time()
        radius = looks.judged(order).held_out.max_radius
        after = checked(search, before, warmup=WARMUP, max_radius=radius)
        row["orders"][str(order)] = {
            "seconds": time.process_time() - begun,
            "changed": after is not before,
            "ratio": error(after, looks.train, runs) / error(before, looks.train, runs),
        }
    return row


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each kind: the order that is taken, then all that are nearly as good."""
    rows = list(rows)
    lines = [
        "| kind | systems | changed | error | models of near orders | changed | error | worst |",
        "|---|---|---|---|---|---|---|---|",
    ]
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    for title, these in [("all", set(kinds)), *((kind, {kind}) for kind in kinds)]:
        some = [row for row in rows if row["kind"] in these]
        every = [one for row in some for one in row["orders"].values()]
        taken = [row["orders"][str(row["shipped"])] for row in some]
        worst = max(one["ratio"] for one in every)
        lines.append(f"| {title} | {_cells(taken)} | {_cells(every)} | {worst:.2f} |")
    return "\n".join(lines)


def _cells(models: list[Mapping[str, Any]]) -> str:
    """How many, how many the check changed, and the geometric mean of the relative error."""
    mean = geometric_mean(np.array([one["ratio"] for one in models]))
    return f"{len(models)} | {sum(one['changed'] for one in models)} | {mean:.3f}"


def main() -> None:
    run_study(
        __doc__,
        "last_check",
        KINDS,
        study=study,
        page=page,
        told=lambda row: f"{row['shipped']} {row['orders']}",
    )


if __name__ == "__main__":
    main()
