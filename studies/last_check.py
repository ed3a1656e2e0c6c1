r"""What the last check of linear models is worth on rows that are not learnt from.

    PRSSM_DATA=... python studies/last_check.py --first 60 --docs docs/studies/subspace.md
    python studies/last_check.py --report-only

See `prssm.linear.last_check`. For each system of `linear_orders.KINDS` models of the orders that
held-out halves hardly tell apart are fitted as ever, and checked. Errors are of free runs over
unseen rows from six starts, relative to those without the check. Recorded rows are not run again.
"""

import argparse
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from linear_orders import KINDS, WARMUP, Looks, error, near, shipped, starts

from prssm.data.scaling import Scaler
from prssm.evaluation.jobs.results import Results
from prssm.linear.last_check import checked
from prssm.linear.output_error import Identification
from prssm.report.page_sections import with_section


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
    mean = float(np.exp(np.mean(np.log([one["ratio"] for one in models]))))
    return f"{len(models)} | {sum(one['changed'] for one in models)} | {mean:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/last_check"))
    parser.add_argument("--systems", type=int, default=8, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first system")
    parser.add_argument("--kinds", nargs="+", default=[k for k in KINDS if k != "recordings"])
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    results = Results(words.out, "last_check.jsonl")
    if not words.report_only:
        for number in range(words.first, words.first + words.systems):
            for kind in words.kinds:
                row = results.once(study, kind, number)
                print(kind, number, row["shipped"], row["orders"], flush=True)
    text = page(results.records.values())
    print(text)
    if words.docs:
        words.docs.write_text(with_section(words.docs.read_text(), "last-check", text))


if __name__ == "__main__":
    main()
