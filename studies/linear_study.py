"""The command line that studies over many systems share: some of each kind, each run once.

    run_study(__doc__, "last_check", KINDS, study=study, page=page, told=told)

`study` makes the record of one system, `page` the table of all records, `told` says one in a line.
Recorded rows are not run again.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prssm.evaluation.jobs.results import Results
from prssm.report.page_sections import with_section

RECORDINGS = "recordings"  # the kind that is no simulation, and has so many systems and no more
Row = Mapping[str, Any]


def run_study(
    doc: str,
    name: str,
    kinds: Mapping[str, Any],
    *,
    study: Callable[[str, int], dict[str, Any]],
    page: Callable[[Iterable[Row]], str],
    told: Callable[[Row], str],
    systems: int = 8,
    recordings: int = 0,
) -> None:
    """Runs what is asked for, prints the table, and writes it into a page where one is named.

    With `recordings`, so many of them are among the kinds, where their data are at hand.
    """
    default = [kind for kind in kinds if recordings or kind != RECORDINGS]
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs") / name)
    parser.add_argument("--systems", type=int, default=systems, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first system")
    parser.add_argument("--kinds", nargs="+", default=default, choices=default)
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    results = Results(words.out, f"{name}.jsonl")
    end = dict.fromkeys(kinds, words.first + words.systems)
    end[RECORDINGS] = recordings if os.environ.get("PRSSM_DATA") else 0
    numbers = range(words.first, words.first + words.systems)
    plan = [(kind, number) for number in numbers for kind in words.kinds if number < end[kind]]
    for kind, number in plan if not words.report_only else ():
        print(kind, number, told(results.once(study, kind, number)), flush=True)
    text = page(results.records.values())
    print(text)
    if words.docs:
        section = name.replace("_", "-")
        words.docs.write_text(with_section(words.docs.read_text(), section, text))


def kinds_of(rows: Sequence[Row], kinds: Iterable[str]) -> list[str]:
    """The kinds that the rows have any system of."""
    return [kind for kind in kinds if any(row["kind"] == kind for row in rows)]


def titles(rows: Sequence[Row], kinds: Sequence[str]) -> str:
    """Heads of columns: each kind, and how many systems of it there are."""
    counts = [sum(row["kind"] == kind for row in rows) for kind in kinds]
    return " | ".join(f"{kind} ({count})" for kind, count in zip(kinds, counts, strict=True))


def by_kind(ratios: np.ndarray, rows: Sequence[Row], kinds: Sequence[str]) -> str:
    """Cells under these heads: geometric means of the ratios, one of each row."""
    each = [ratios[[row["kind"] == kind for row in rows]] for kind in kinds]
    return " | ".join(f"{geometric_mean(some):.3f}" for some in each)


def won(change: np.ndarray) -> str:
    """How many ratios are better and worse than one by 3 % and more."""
    return f"{int((change < 0.97).sum())} : {int((change > 1.03).sum())}"


def geometric_mean(ratios: np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(ratios))))
