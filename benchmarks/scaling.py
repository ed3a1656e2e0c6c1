r"""Weak and strong scaling of training over devices, as ratios.

    OPENBLAS_NUM_THREADS=1 python benchmarks/scaling.py \
        [--docs docs/studies/scaling.md] [--out runs] [--iterations 200]

The engine has one thread for each device; two devices are two processes, or two that JAX makes of
one processor. Strong: the same mini-batch for 1 and 2 devices. Weak: twice the mini-batch for 2.
Takes about two minutes on two idle cores. Prints a table, writes a record (versions, device,
commit, load) to runs/scaling.json and, with --docs, puts the table between the markers of the page.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from prssm.evaluation.jobs.provenance import machine, provenance
from prssm.report.page_sections import with_section

BATCH = 10  # sub-trajectories of 50 samples for one process: the paper's configuration
CASES = {  # processes, devices of each, batch
    "one process": (1, 1, BATCH),
    "strong: two devices of one process": (1, 2, BATCH),
    "strong: two processes": (2, 1, BATCH),
    "one process, twice the batch": (1, 1, 2 * BATCH),
    "weak: two devices of one process": (1, 2, 2 * BATCH),
    "weak: two processes": (2, 1, 2 * BATCH),
}


class Clock:
    """A watcher of training that notes when each chunk of iterations was done."""

    def __init__(self) -> None:
        self.times: list[tuple[int, float]] = []

    def start(self, total: int, done: int, label: str) -> None: ...

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        self.times.append((done, time.perf_counter()))

    def stop(self) -> None: ...

    def milliseconds(self) -> dict[str, float]:
        """Of one iteration; the first chunks, which compile, are left out."""
        done, at = np.array(self.times[2:]).T
        each = 1000.0 * np.diff(at) / np.diff(done)
        return {"min_ms": float(each.min()), "median_ms": float(np.median(each))}


def work(
    process: int, processes: int, port: int, devices: int, batch: int, iterations: int
) -> dict[str, Any]:
    """One process's part, run in a process of its own; process 0's figures count."""
    import jax

    import prssm
    from prssm.training.distributed import processes as run

    if processes > 1:
        run.join(f"127.0.0.1:{port}", processes, process)
    train, _ = prssm.datasets.load("drives_sim")
    clock = Clock()
    model = prssm.PRSSM("paper", batch=batch, iterations=iterations, restarts=1).fit(
        train, progress=clock, devices=None if processes * devices == 1 else "auto"
    )
    parameters = sum(np.size(leaf) for leaf in jax.tree.leaves(model.mixture_.models))
    run.part()
    found = {
        "parameters": int(parameters),
        "gradient_bytes": 8 * int(parameters),
        "provenance": provenance(),
    }
    return found | (clock.milliseconds() if process == 0 else {})


def timed(processes: int, devices: int, batch: int, iterations: int) -> dict[str, Any]:
    """Starts the processes of one case and gives what process 0 measured."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [processes, port, devices, batch, iterations]
    flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "PRSSM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, __file__, "--work", *map(str, [process, *words])],
            text=True,
            stdout=subprocess.PIPE,
            env=os.environ | flags,
        )
        for process in range(processes)
    ]
    said = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit(f"a process of the case {processes} x {batch} failed")
    return json.loads(said[0].splitlines()[-1])


def measure(iterations: int) -> dict[str, Any]:
    record: dict[str, Any] = {"load_before": os.getloadavg(), "iterations": iterations, "cases": []}
    for name, (processes, devices, batch) in CASES.items():
        record["cases"].append(
            {
                "case": name,
                "devices": processes * devices,
                "batch": batch,
                **timed(processes, devices, batch, iterations=iterations),
            }
        )
    record["provenance"] = record["cases"][0]["provenance"] | {"machine": machine()}
    record["load_after"] = os.getloadavg()
    return record


def table(record: dict[str, Any]) -> str:
    """The record as a table of the page.

    Speed-up is the time of one process on the same batch, divided by this one's; ideally it is the
    number of devices.
    """
    alone = {case["batch"]: case["min_ms"] for case in record["cases"] if case["devices"] == 1}
    made = record["provenance"]
    before = record["load_before"][0]
    after = record["load_after"][0]
    lines = [
        f"{made['machine']}; {made['device']}; commit {made['commit']};",
        f"jax {made['versions']['jax']}; one thread of the engine a device; "
        f"load average {before:.2f} and {after:.2f} before and after. "
        f"A gradient is {record['cases'][0]['gradient_bytes']} bytes.",
        "",
        "| | devices | batch | ms an iteration, min (median) | speed-up | efficiency |",
        "|---|---|---|---|---|---|",
    ]
    for case in record["cases"]:
        gain = alone[case["batch"]] / case["min_ms"]
        lines.append(
            f"| {case['case']} | {case['devices']} | {case['batch']} | {case['min_ms']:.1f} "
            f"({case['median_ms']:.1f}) | {gain:.2f} | {100 * gain / case['devices']:.0f} % |"
        )
    weak = (
        f"{100 * alone[BATCH] / case['min_ms']:.0f} % for {case['case'].removeprefix('weak: ')}"
        for case in record["cases"]
        if case["case"].startswith("weak")
    )
    return "\n".join(
        [
            *lines,
            "",
            f"Weak scaling (time of one device on its batch, over that of two on twice the batch): "
            f"{', '.join(weak)}.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="also put the table into this page")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--iterations", type=int, default=200)
    # One process of a case, started by `timed`.
    parser.add_argument("--work", nargs=6, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(work(*options.work)))
        return
    record = measure(options.iterations)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scaling.json").write_text(json.dumps(record, indent=1) + "\n")
    print(table(record))
    if options.docs:
        options.docs.write_text(with_section(options.docs.read_text(), "scaling", table(record)))


if __name__ == "__main__":
    main()
