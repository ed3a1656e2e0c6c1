"""Free runs from few rows: what the states that training has shown are worth as a prior.

    PRSSM_DATA=... python studies/short_starts.py --out runs/short-starts
    python studies/short_starts.py --report-only --out runs/short-starts

The default preset learns from the first three quarters of a training part, or from a random system.
Pieces of what it has not seen are then run freely from their first 16, 10, 4 or 1 rows. Test parts
are not read, and recorded rows are not run again.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from prssm import PRSSM, datasets
from prssm.data.record import Record
from prssm.evaluation.jobs.results import Results

SETS = ("actuator", "ballbeam", "drives", "dryer", "310", "311", "312", "313")
STARTS = (16, 10, 4, 1)
PIECES = 8
ROWS = 100  # of a piece
KNOWN = "known"
UNKNOWN = "unknown"


def data(name: str) -> tuple[Record, list[Record]]:
    """What is trained on, and pieces of fresh rows."""
    if name.isdigit():
        from fresh_systems import with_new_runs

        train, runs = with_new_runs(int(name))
        return train, [run[:ROWS] for run in runs[:PIECES]]
    whole, _ = datasets.load(name)
    cut = len(whole) * 3 // 4
    fresh = whole[cut:]
    length = min(ROWS, len(fresh))
    begins = np.linspace(0, len(fresh) - length, PIECES).astype(int)
    return whole[:cut], [fresh[begin : begin + length] for begin in begins]


def error(model: PRSSM, pieces: list[Record], start: int) -> float:
    """Root mean square error over the pieces, in units of the training deviation."""
    runs = [model.simulate(piece, start=start) for piece in pieces]
    apart = [(run.measured - run.mean) / model.scaler_.y_std for run in runs]
    return float(np.sqrt(np.nanmean(np.square(np.concatenate(apart)))))


def forgetful(model: PRSSM) -> PRSSM:
    """The same model, which does not know what its states were."""
    found = PRSSM.__new__(PRSSM)
    found.__dict__.update(model.__dict__)
    found.mixture_ = replace(model.mixture_, usual=None)
    found.witnesses_ = None  # they say how wide the band is, not where it lies
    return found


def study(name: str) -> dict[str, Any]:
    """Errors by the number of rows read, with and without the prior."""
    train, pieces = data(name)
    model = PRSSM().fit(train)
    beside = forgetful(model)
    return {
        "set": name,
        "level": model.level_,
        KNOWN: [error(model, pieces, start) for start in STARTS],
        UNKNOWN: [error(beside, pieces, start) for start in STARTS],
    }


def report(rows: list[dict[str, Any]]) -> str:
    """A line for each number of rows; in brackets the error without the prior."""
    names = [f"system {row['set']}" if row["set"].isdigit() else row["set"] for row in rows]
    lines = [
        "| rows read | " + " | ".join(names) + " | ratio |",
        "|---" * (len(rows) + 2) + "|",
    ]
    for at, start in enumerate(STARTS):
        cells = [f"{row[KNOWN][at]:.3f} ({row[UNKNOWN][at]:.3f})" for row in rows]
        ratios = [row[KNOWN][at] / row[UNKNOWN][at] for row in rows]
        mean = np.exp(np.mean(np.log(ratios)))
        lines.append(f"| {start} | " + " | ".join(cells) + f" | {mean:.2f} |")
    return "\n".join(lines)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path, default=Path("runs/short-starts"))
    parser.add_argument("--report-only", action="store_true", help="train nothing")
    given = parser.parse_args(words)
    results = Results(given.out, "rows.jsonl")
    if not given.report_only:
        for name in given.sets:
            print(results.once(study, name), flush=True)
    print(report(list(results.records.values())))


if __name__ == "__main__":
    main()
