"""The official protocols of nonlinearbenchmark.org, of the recordings that are at hand.

    python studies/official.py --out runs/official                  # all; each fit is kept
    python studies/official.py --sets ced --seeds 3 --out runs/official
    python studies/official.py --report-only --out runs/official

A model of the default preset learns from the estimation part. Its free run over the test part reads
outputs of the first rows only, as many as the protocol says, and errors count from there on. Where
that is fewer than the model likes to read, the figure with its own number of rows stands beside it.
Recorded rows are not run again, so a test part is read once. It needs no command line and no data
frames: from a source tree without an installation, `PYTHONPATH=src python studies/official.py`.
"""

import argparse
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """A recording: its unit, how many of it are one of the data's, and published errors."""

    unit: str
    scale: float
    published: dict[str, str]


TASKS = {
    "cascaded_tanks": Task(
        "V",
        1.0,
        {"grey-box": "0.191", "CT-SUBNET": "0.306", "SUBNET": "0.37", "GRU": "0.396"},
    ),
    "ced": Task("ticks/s", 1.0, {"CT-SUBNET": "0.074", "RNN": "0.096"}),
    "emps": Task("mm", 1e3, {"dynoNet": "2.64", "CT-SUBNET": "4.61", "linear": "5.53"}),
}


def errors(model, records, *, start: int, skip: int) -> list[float]:
    """Of the free run over each record, from row `skip` on."""
    found = []
    for run in model.free_runs(records, start=start):
        error = (run.measured - run.mean)[skip:]
        found.append(float(np.sqrt(np.nanmean(error**2))))
    return found


def study(name: str, seed: int, options: dict, *, folder: Path) -> dict:
    """One fit, saved in the folder, and its errors by the protocol."""
    from prssm import PRSSM
    from prssm.data.sets.catalogue import load
    from prssm.data.sets.public_sets import PUBLIC

    task = TASKS[name]
    rows = PUBLIC[name].unscored
    train, test = load(name)
    begun = time.perf_counter()
    model = PRSSM(seed=seed, **options).fit(train)
    took = time.perf_counter() - begun
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / f"{name}-{seed}.prssm")
    records = test if isinstance(test, list) else [test]
    official = errors(model, records, start=rows, skip=rows)
    skip = max(rows, model.warmup)
    own = errors(model, records, start=model.warmup, skip=skip)
    short = errors(model, records, start=rows, skip=skip)
    return {
        "set": name,
        "seed": seed,
        "rows": rows,
        "rmse": [task.scale * error for error in official],
        "warmup": model.warmup,
        "rmse_own_start_later_rows": [task.scale * error for error in own],
        "rmse_later_rows": [task.scale * error for error in short],
        "stride": model.stride_,
        "level": model.level_,
        "fit_s": round(took, 1),
    }


def report(found: list[dict]) -> str:
    """A line for each fit, with published errors beside it."""
    lines = [
        "| set | seed | rows read | RMSE | rows after the model's own start: official start "
        "| its own (rows) | fit | published |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        task = TASKS[row["set"]]
        cells = [
            " and ".join(f"{error:.3g}" for error in row[key])
            for key in ("rmse", "rmse_later_rows", "rmse_own_start_later_rows")
        ]
        beside = ", ".join(f"{value} {name}" for name, value in task.published.items())
        lines.append(
            f"| {row['set']}, {task.unit} | {row['seed']} | {row['rows']} | {cells[0]} "
            f"| {cells[1]} | {cells[2]} ({row['warmup']}) | {row['fit_s']:.0f} s | {beside} |"
        )
    return "\n".join(lines)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/official"))
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    parser.add_argument("--iterations", type=int, help="fewer than the preset's, for a trial")
    given = parser.parse_args(words)
    from prssm.evaluation.jobs.results import Results

    results = Results(given.out, "official.jsonl")
    options = {} if given.iterations is None else {"iterations": given.iterations}
    if not given.report_only:
        for name, seed in product(given.sets, range(given.seeds)):
            row = results.once(study, name, seed, options, folder=given.out)
            print(name, seed, row["rmse"], f"{row['fit_s']} s", flush=True)
    print(report(list(results.records.values())))


if __name__ == "__main__":
    main()
