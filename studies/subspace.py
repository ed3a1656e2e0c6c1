r"""Our linear model beside N4SID, MOESP and CVA of SIPPY.

    PYTHONPATH=benchmarks python studies/subspace.py --docs docs/studies/subspace.md
    PYTHONPATH=benchmarks python studies/subspace.py --report-only

Over simulated linear systems (`linear_systems.py`) and the recordings at hand (PRSSM_DATA). Of a
recording the last third of the training part is predicted: no test part is read. Free runs begin
with 16 outputs and are judged after them. `best start` takes the first state that fits the whole
run best, so that only the model counts. SIPPY chooses orders 1 to 20 on the last quarter of what it
learns from, in an environment of its own under --out. Recorded rows are not run again.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from linear_systems import FAMILIES
from peer_environments import environment, surroundings

import prssm
from prssm.data.record import Record
from prssm.evaluation.jobs.results import Results
from prssm.linear.system import LinearSystem
from prssm.report.page_sections import with_section

METHODS = ("N4SID", "MOESP", "CVA")
RECORDINGS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced")
KINDS = (*FAMILIES, "recordings")
START = 16
SHOWN = 2.0 / 3.0  # of the training part of a recording
SECONDS = 600.0  # of one method; far more than it takes
PEER = Path(__file__).with_name("subspace_peer.py")


def parts(family: str, number: int) -> tuple[Record, Record, dict[str, Any]]:
    """What is learnt from, what is predicted, and facts for the row."""
    if family in FAMILIES:
        made = FAMILIES[family](number)
        return made.train, made.test, {"order": made.order, "noise": made.noise}
    train, _ = prssm.datasets.load(RECORDINGS[number])
    record = train if isinstance(train, Record) else train[0]
    cut = int(SHOWN * len(record))
    return record[:cut], record[cut:], {"name": RECORDINGS[number]}


def study(family: str, number: int, folder: Path) -> dict[str, Any]:
    """Errors, orders and processor seconds of all methods on one system."""
    train, test, facts = parts(family, number)
    row = {"family": family, "number": number, "rows": len(train), **facts}
    row |= ours(train, test)
    row |= theirs(train, test, folder)
    # errors in deviations of what was learnt from
    scale = float(train.y.std())
    return {
        name: value / scale if name.startswith("error") and value is not None else value
        for name, value in row.items()
    }


def ours(train: Record, test: Record) -> dict[str, Any]:
    begun = time.process_time()
    model = prssm.LinearSSM().fit(train)
    row = {"order prssm": model.order_, "seconds prssm": time.process_time() - begun}
    row["error prssm"] = late(model.free_runs(test)[0].mean - test.y)
    scaled = model.scaler_.scale(test)
    system = model.system_
    run = system.simulate(system.first_state(scaled), scaled.u)[0]
    row["error prssm best start"] = late((run - scaled.y) * model.scaler_.y_std)
    # as it was before: the first outputs are trusted as little as a long run
    start = model.start_
    model.start_ = replace(start, start_std=start.error_std)
    row["error prssm old start"] = late(model.free_runs(test)[0].mean - test.y)
    return row


def theirs(train: Record, test: Record, folder: Path) -> dict[str, Any]:
    python, _ = environment("SIPPY", folder)
    with tempfile.TemporaryDirectory() as place:
        task = Path(place) / "task.npz"
        answer = Path(place) / "answer.npz"
        np.savez(task, u=train.u, y=train.y, u_test=test.u, y_start=test.y[:START])
        subprocess.run(
            [str(python), str(PEER), str(task), str(answer), str(SECONDS)],
            env=surroundings("SIPPY", folder) | {"OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
        )
        found = dict(np.load(answer))
    row: dict[str, Any] = {}
    for method in METHODS:
        A, B, C, D = (found[f"{method} {name}"] for name in "ABCD")
        system = LinearSystem(A, B, C, D=D, offset=found[f"{method} y"])
        centred = Record(test.u - found[f"{method} u"], test.y)
        with np.errstate(all="ignore"):
            run = system.simulate(system.first_state(centred), centred.u)[0]
        row[f"order {method}"] = len(A)
        row[f"seconds {method}"] = float(found[f"{method} seconds"])
        row[f"error {method}"] = late(found[f"{method} run"] - test.y)
        row[f"error {method} best start"] = late(run - test.y)
    return row


def late(error: np.ndarray) -> float | None:
    """RMS after the rows that start a run; None where it diverged."""
    with np.errstate(all="ignore"):
        rms = float(np.sqrt(np.mean(error[START:] ** 2)))
    return rms if np.isfinite(rms) and rms < 1e6 else None


COLUMNS = ("prssm", "prssm old start", *METHODS)
BEST = tuple(f"{method}, best start" for method in METHODS)


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table of geometric means for each family, and one with a line for each recording."""
    rows = list(rows)
    lines = [
        "Geometric mean of the error relative to ours, and in brackets how many of the systems "
        "each method has the least error on; a run that diverged counts as 10 times ours.",
        "",
        f"| systems | number | {' | '.join(COLUMNS)} | {' | '.join(BEST)} |",
        f"|---|---|{'---|' * (len(COLUMNS) + len(METHODS))}",
    ]
    for family in dict.fromkeys(row["family"] for row in rows):
        lines.append(_family(family, [row for row in rows if row["family"] == family]))
    lines += ["", _each(rows)]
    return "\n".join(lines)


def _family(family: str, rows: list[Mapping[str, Any]]) -> str:
    wins = dict.fromkeys(COLUMNS, 0)
    for row in rows:
        errors = {name: row[f"error {name}"] for name in ("prssm", *METHODS)}
        there = {name: error for name, error in errors.items() if error is not None}
        wins[min(there, key=lambda name: there[name])] += 1
    cells = []
    for name in COLUMNS:
        count = "" if name == "prssm old start" else f" ({wins[name]})"
        cells.append(f"{_relative(rows, f'error {name}', 'error prssm'):.2f}{count}")
    for name in METHODS:
        ratio = _relative(rows, f"error {name} best start", "error prssm best start")
        cells.append(f"{ratio:.2f}")
    return f"| {family} | {len(rows)} | {' | '.join(cells)} |"


def _relative(rows: list[Mapping[str, Any]], name: str, base: str) -> float:
    lost = 10.0
    ratios = [row[name] / row[base] if row[name] is not None else lost for row in rows]
    return float(np.exp(np.mean(np.log(ratios))))


def _each(rows: list[Mapping[str, Any]]) -> str:
    """Every system: errors in deviations of the output, orders in brackets."""
    lines = [
        f"| system | rows | order | noise | {' | '.join(COLUMNS)} |",
        f"|---|---|---|---|{'---|' * len(COLUMNS)}",
    ]
    for row in rows:
        cells = []
        for name in COLUMNS:
            error = row[f"error {name}"]
            order = row.get(f"order {name}")
            told = "lost" if error is None else f"{error:.3g}"
            cells.append(told if order is None else f"{told} ({order})")
        title = row.get("name", f"{row['family']} {row['number']}")
        known = f"{row['order']} | {row['noise']:.3f}" if "noise" in row else " | "
        lines.append(f"| {title} | {row['rows']} | {known} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/subspace"))
    parser.add_argument("--systems", type=int, default=20, help="of each family")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="kinds of systems")
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    results = Results(words.out, "subspace.jsonl")
    sizes = dict.fromkeys(FAMILIES, words.systems)
    if os.environ.get("PRSSM_DATA"):
        sizes["recordings"] = len(RECORDINGS)
    plan = [(family, number) for family in words.only for number in range(sizes.get(family, 0))]
    if not words.report_only:
        for family, number in plan:
            row = results.once(study, family, number, folder=words.out)
            print(family, number, f"{row['error prssm']:.4g}", row["error N4SID"], flush=True)
    rows = sorted(results.records.values(), key=lambda row: KINDS.index(row["family"]))
    text = page(rows)
    print(text)
    if words.docs:
        old = words.docs.read_text() if words.docs.exists() else ""
        words.docs.write_text(with_section(old, "subspace", text))


if __name__ == "__main__":
    main()
