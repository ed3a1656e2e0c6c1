"""How fast a training step is, as ratios to the obvious way to write it.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed.py [--out runs] \
        [--docs docs/studies/performance.md]

Takes some four minutes on two idle cores. Prints tables, writes a record (versions, device, commit,
load) to runs/speed.json and, with --docs, the page, of which it leaves alone what other commands
have written between their markers.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import speed_measures as measures
from speed_default import default_iterations
from speed_page import page, text

from prssm.dynamics.engines.native import library
from prssm.evaluation.jobs.provenance import provenance


def measure() -> dict[str, Any]:
    """Everything, with the load of the machine before and after."""
    record: dict[str, Any] = {
        "provenance": provenance(),
        "native": library.description(),
        "load_before": os.getloadavg(),
    }
    begun = time.perf_counter()
    record["iterations"] = measures.iterations("R") + measures.iterations("S")
    record["default"] = default_iterations()
    record["shared"] = measures.shared_inducing("R") + measures.shared_inducing("S")
    record["restarts"] = measures.restarts()
    record["growth"] = measures.growth()
    record["agreement"] = measures.agreement("R") + measures.agreement("S")
    record["free_run"] = measures.free_run()
    record["one_step"] = measures.one_step()
    record["memory"] = [
        measures.in_new_process("memory", engine) for engine in ("native", "native-single")
    ]
    record["start"] = measures.in_new_process("start")
    record["seconds"] = time.perf_counter() - begun
    record["load_after"] = os.getloadavg()
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="also write this page")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    # One measurement, for a process of its own.
    parser.add_argument("--only", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        what, *words = options.only
        print(
            json.dumps(
                measures.memory_here(*words)
                if what == "memory"
                else measures.first_iteration_here() or {}
            )
        )
        return
    record = measure()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "speed.json").write_text(json.dumps(record, indent=1) + "\n")
    print(text(record))
    if options.docs:
        old = options.docs.read_text() if options.docs.exists() else ""
        options.docs.write_text(page(record, old))


if __name__ == "__main__":
    main()
