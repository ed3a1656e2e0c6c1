r"""How long a user waits: fits, a simulation and the demo, from the shell, and where the time goes.

    PRSSM_DATA=... python benchmarks/fit_time.py [--docs docs/studies/performance.md] [--out runs] \
        [--cases simulate demo ...] [--quick]

Every case is a cold process of the command line. Times are wall clock, so that the machine should
be idle; processor seconds stand beside them, and each time also as a multiple of one iteration of
the batch-first scan of reference work R (see speed_work.py) in the same run. --quick trains a few
iterations only, to see that everything works. Prints the table, writes runs/fit_time.json and, with
--docs, the section of the page.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
from fit_phases import PHASES
from speed_page import table
from speed_work import REFERENCE, make, value_and_gradient

from prssm.data.io.files import write_record
from prssm.data.simulators import simulate
from prssm.evaluation.jobs.provenance import provenance
from prssm.foundation.precision import double_precision
from prssm.report.page_sections import with_section

LONG = "long.csv"
NEXT = "next.csv"
MODEL = "model.prssm"
# By name: what the case is, and the words of the command.
CASES = {
    "drives": ("fit, 250 rows (Drives)", ["fit", "drives", "--out", MODEL]),
    "actuator": ("fit, 512 rows (Actuator)", ["fit", "actuator", "--out", "actuator.prssm"]),
    "long": ("fit, 6000 rows (simulated drives)", ["fit", LONG, "--out", "long.prssm"]),
    "simulate": ("simulate, 500 rows", ["simulate", MODEL, NEXT, "--out", "p.csv"]),
    "demo": ("demo", ["demo"]),
}
# Options of a fit that is only to work: for a trial, and for the model that is simulated.
QUICK = ["--iterations", "20", "--restarts", "2", "--folds", "2", "--fold-restarts", "1"]
REPEATS = 10


def scan_seconds() -> float:
    """One value and gradient of R by the batch-first scan in float64, the fastest of several."""
    with double_precision():
        model, data = make(REFERENCE)
        function = value_and_gradient(REFERENCE, "batch-first")
        key = jax.random.key(0)
        taken = []
        for _ in range(REPEATS + 1):
            begun = time.perf_counter()
            jax.block_until_ready(function(model, data, key))
            taken.append(time.perf_counter() - begun)
    return min(taken[1:])


def timed(words: list[str], folder: Path) -> dict[str, Any]:
    """One command in a process of its own."""
    child = Path(__file__).with_name("fit_phases.py").absolute()
    before = _processor_seconds()
    load = os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, str(child), str(time.time()), *words],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"prssm {' '.join(words)} failed:\n{done.stderr}")
    found = json.loads(done.stderr.splitlines()[-1])
    return found | {"processor": _processor_seconds() - before, "load": load}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(cases: list[str], quick: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "provenance": provenance(),
        "load_before": os.getloadavg(),
        "scan_seconds": scan_seconds(),
        "quick": quick,
        "cases": {},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_record(folder / LONG, simulate("drives_sim", 6000)[0].renamed("long"))
        write_record(folder / NEXT, simulate("drives_sim", 500, seed=1)[0].renamed("next"))
        for case in cases:
            title, words = CASES[case]
            if case == "simulate":
                _model_for_simulation(folder)
            if words[0] == "fit":
                words = [*words, *(_columns(case)), *(QUICK if quick else [])]
            print(f"  {title}: prssm {' '.join(words)}", flush=True)
            record["cases"][case] = timed(words, folder)
    record["load_after"] = os.getloadavg()
    return record


def _columns(case: str) -> list[str]:
    return ["-u", "voltage", "-y", "speed"] if case == "long" else []


def _model_for_simulation(folder: Path) -> None:
    """The model of simulated drives that runs over the next rows: its training is not timed."""
    words = ["fit", NEXT, "-u", "voltage", "-y", "speed", "--out", MODEL, "--quiet", *QUICK]
    timed(words, folder)


def rows(record: dict[str, Any]) -> list[list[str]]:
    """The table: one line for each case, and one for the first model of the first fit."""
    scan = record["scan_seconds"]
    lines = []
    for case, found in record["cases"].items():
        phases = [f"{found['phases'][name]:.1f}" for name in PHASES]
        times = [f"{found['total']:.1f}", f"{found['total'] / scan:.0f}"]
        lines.append([CASES[case][0], *times, f"{found['processor']:.1f}", *phases])
    for case, found in record["cases"].items():
        if CASES[case][1][0] == "fit" and found["first_model"] is not None:
            first = found["first_model"]
            title = f"{CASES[case][0]}: until the first usable model"
            lines.append([title, f"{first:.1f}", f"{first / scan:.0f}", *[""] * (len(PHASES) + 1)])
    return lines


def text(record: dict[str, Any]) -> str:
    """The section of the page."""
    origin = record["provenance"]
    before = record["load_before"][0]
    after = record["load_after"][0]
    quick = " **A trial with few iterations: the times of fits mean nothing.**"
    return "\n".join(
        [
            "## How long a user waits",
            "",
            "Generated by `python benchmarks/fit_time.py --docs docs/studies/performance.md`.",
            "Seconds of wall clock of a cold process of the command line with default options,",
            "everything included; the same as a multiple of one iteration of the batch-first scan",
            f"of R in float64 ({1e3 * record['scan_seconds']:.0f} ms in this run); processor",
            "seconds; then where the wall time goes. `choose` is all of a fit but its start and",
            "training: free runs over held-out stretches, choice, calibration. `rest` is reading,",
            "the baselines, tables and the report." + (quick if record["quick"] else ""),
            "",
            f"{origin['machine']}; {origin['device']}; commit {origin['commit']};",
            f"load average {before:.2f} and {after:.2f} before and after.",
            "",
            table(["`prssm`", "s", "times R", "processor s", *PHASES], rows(record)),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="also put the section into this page")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--quick", action="store_true", help="few iterations, as a trial")
    options = parser.parse_args()
    record = measure(options.cases, options.quick)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "fit_time.json").write_text(json.dumps(record, indent=1) + "\n")
    print(text(record))
    if options.docs:
        page = options.docs.read_text()
        options.docs.write_text(with_section(page, "fit-time", text(record)))


if __name__ == "__main__":
    main()
