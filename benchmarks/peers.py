r"""What other packages make of the same recordings, and how long they take.

    PRSSM_DATA=... python benchmarks/peers.py --out runs/peers --docs docs/explanation/comparison.md
    PRSSM_DATA=... python benchmarks/peers.py --only SIPPY sysidentpy --recordings drives dryer

One protocol: each package learns from the training part within --seconds, may choose among models
on the last quarter of it, and then runs freely over the test part from the first 16 outputs, which
are all that it is given. The error counts the rows after these. Each package is driven as its own
documentation says (see the adapters in benchmarks/peers/) in an environment of its own under --out.
What has been run is kept (peers.jsonl) and not run again; fit times are of the clock, so that the
machine should be idle.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from peer_environments import ADAPTERS, PEERS, environment, surroundings
from peers_page import page

from prssm import datasets
from prssm.evaluation.jobs.provenance import provenance
from prssm.evaluation.jobs.results import Results
from prssm.report.page_sections import with_section

RECORDINGS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks")
START = 16
SECONDS = 120.0
_GRACE = 10.0  # so many times the time a fit may take before it is given up


class PeerError(Exception):
    """An adapter did not work: nothing is kept, so that the next call tries it again."""


def compare(name: str, recording: str, seconds: float, folder: Path) -> dict[str, Any]:
    """A package on a recording: error, times, what was chosen; or why there is no error."""
    train, test = datasets.load(recording)
    python, installed = environment(name, folder)
    peer = PEERS[name]
    row: dict[str, Any] = {
        "package": name,
        "recording": recording,
        "seconds": seconds,
        "installed": installed,
        "load": os.getloadavg()[0],
        **provenance(),
    }
    with tempfile.TemporaryDirectory() as place:
        task = Path(place) / "task.npz"
        answer = Path(place) / "answer.npz"
        np.savez(task, u=train.u, y=train.y, u_test=test.u, y_start=test.y[:START])
        command = [str(python), str(ADAPTERS / peer.adapter), str(task), str(answer), str(seconds)]
        try:
            done = subprocess.run(
                [*command, *peer.words],
                env=surroundings(name, folder),
                cwd=place,
                capture_output=True,
                text=True,
                timeout=_GRACE * seconds,
            )
        except subprocess.TimeoutExpired:
            return row | {"rmse": None, "why": f"no end after {_GRACE * seconds:.0f} s"}
        if done.returncode:
            raise PeerError(f"{name} on {recording}: {done.stderr.strip()[-2000:]}")
        found = np.load(answer)
        error = test.y - found["run"]
        facts = json.loads(str(found["facts"]))
    # beyond all bounds is as lost as not a number
    lost = not np.isfinite(error).all() or np.abs(error).max() > 1e3 * np.ptp(train.y)
    late = None if lost else float(np.sqrt(np.mean(error[START:] ** 2)))
    whole = None if lost else float(np.sqrt(np.mean(error**2)))
    why = "the free run diverged" if lost else ""
    return row | facts | {"rmse": late, "rmse_whole": whole, "why": why}


def run_all(words: argparse.Namespace, results: Results) -> None:
    """Every package on every recording, each as soon as it can, with a line on the terminal."""
    for recording, name in product(words.recordings, words.only):
        try:
            row = results.once(compare, name, recording, words.seconds, folder=words.out)
        except PeerError as error:
            print(error, file=sys.stderr, flush=True)
            continue
        told = "lost" if row["rmse"] is None else f"{row['rmse']:.4g}"
        took = f"{row['wall_s']:7.1f} s" if "wall_s" in row else row["why"]
        print(f"{recording:<15}{name:<14}{told:>10}  {took}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/peers"))
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--recordings", nargs="+", default=list(RECORDINGS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each fit")
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    results = Results(words.out, "peers.jsonl")
    if not words.report_only:
        run_all(words, results)
    rows = [row for row in results.records.values() if row["seconds"] == words.seconds]
    rows.sort(key=lambda row: list(PEERS).index(row["package"]))
    text = page(rows)
    print(text)
    if words.docs:
        words.docs.parent.mkdir(parents=True, exist_ok=True)
        old = words.docs.read_text() if words.docs.exists() else ""
        words.docs.write_text(with_section(old, "peers", text))


if __name__ == "__main__":
    main()
