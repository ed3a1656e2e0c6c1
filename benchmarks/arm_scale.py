r"""A simulated seven-joint arm from 20 thousand to 2 million samples: time and memory against size.

    OPENBLAS_NUM_THREADS=1 python benchmarks/arm_scale.py \
        --docs docs/studies/scaling.md --figure docs/figures/arm-scale.png

The data are simulated once, written to disk and converted to a stream; training reads its windows
from there. Each fit is a process of its own, so that its largest memory can be seen. Errors are
those of free runs over experiments of another seed. Records that exist are not made again.
`--default` fits nothing but the default preset, which takes at most 100 000 rows into memory.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

from prssm.report.page_sections import with_section

SIZES = (20_000, 200_000, 2_000_000)
# Iterations; each is a fit of its own, since the step size falls towards its end.
BUDGETS = (250, 500, 1000, 2000)
LENGTH = 1000  # rows of an experiment
OPTIONS = {
    "complexity": "free",
    "folds": 0,
    "restarts": 1,
    "latent_dim": 14,
    "inducing": 30,
    "samples": 5,
    "batch": 10,
}
WHOLE = 0  # in place of iterations: the default preset decides
SHOWN = ("rows", "iterations", "fit_seconds", "memory_gib", "rmse")
TARGET = 0.21  # rad; the training mean has 0.28


def make(rows: int, folder: Path) -> Path:
    """The stream of so many rows; made once."""
    from prssm.data.io.files import write_record
    from prssm.data.simulators import stream
    from prssm.data.stream.convert import convert

    target = folder / f"{rows}.stream"
    if not (target / "index.json").exists():
        parts = folder / f"{rows}.parts"
        parts.mkdir(parents=True, exist_ok=True)
        for index, trajectory in enumerate(stream("arm_sim", LENGTH, rows // LENGTH, seed=0)):
            write_record(parts / f"{index:06d}.npz", trajectory.record)
        joints = range(1, 8)
        convert(
            [parts],
            target,
            time="time",
            inputs=[f"torque{i}" for i in joints],
            outputs=[f"q{i}" for i in joints],
        )
    return target


def fit(rows: int, iterations: int, folder: Path) -> dict:
    """One fit in this process; its record. Of no iterations it is the default preset."""
    import prssm
    from prssm.data.simulators import simulate
    from prssm.evaluation.jobs.provenance import provenance

    data = prssm.Stream.open(make(rows, folder))
    begun = time.perf_counter()
    options = {} if iterations == WHOLE else OPTIONS | {"iterations": iterations}
    model = prssm.PRSSM("default", **options).fit(data)
    seconds = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    unseen = simulate("arm_sim", LENGTH, 6, seed=1)
    return {
        "rows": rows,
        "iterations": iterations,
        "fit_seconds": round(seconds, 1),
        "waited_seconds": model.training_.waited,
        "training_seconds": model.training_.seconds,
        "findings": dict(model.findings()),
        "memory_gib": memory,
        **model.evaluate(unseen),
        **provenance(),
    }


def in_own_process(rows: int, iterations: int, folder: Path) -> dict:
    """The same in a process of its own, so that its largest memory can be seen."""
    make(rows, folder)
    words = ["--out", str(folder), "--one", str(rows), str(iterations)]
    done = subprocess.run(
        [sys.executable, __file__, *words], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def table(records: list[dict]) -> str:
    lines = [
        "| samples | on disk | memory, GiB | "
        + " | ".join(f"{n} iterations" for n in BUDGETS)
        + f" | first under {TARGET} rad | default fit |",
        "|---" * (5 + len(BUDGETS)) + "|",
    ]
    for rows in SIZES:
        *found, whole = [
            next((r for r in records if (r["rows"], r["iterations"]) == (rows, n)), None)
            for n in (*BUDGETS, WHOLE)
        ]
        known = [record for record in found if record]
        if not known:
            continue
        cells = [_told(record) for record in found]
        reached = next(
            (f"{r['fit_seconds']:.0f} s" for r in known if r["rmse"] < TARGET), "not reached"
        )
        lines.append(
            f"| {rows:,} | {rows * 14 * 4 / 1e6:.0f} MB | "
            f"{max(r['memory_gib'] for r in known):.2f} | " + " | ".join(cells) + f" | {reached} "
            f"| {_told(whole)} |"
        )
    read = [record for record in records if record["iterations"] != WHOLE]
    shares = [r["waited_seconds"] / max(r["training_seconds"], 1e-9) for r in read]
    waited = max(shares, default=0.0)
    note = (
        f"RMSE (rad) of free runs over 6 unseen experiments of {LENGTH} rows, and the time of\n"
        f"the fit. The device waited for data for at most {waited:.1%} of the training.\n"
        f"Machine: {records[0]['machine']}, commit {records[0]['commit'][:7]}."
    )
    return "\n".join([*lines, "", note])


def _told(record: dict | None) -> str:
    return f"{record['rmse']:.3f} in {record['fit_seconds']:.0f} s" if record else "not run"


def figure(records: list[dict], target: Path) -> None:
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9, 3.6), layout="constrained")
    errors, memory = drawing.subplots(1, 2)
    records = [record for record in records if record["iterations"] != WHOLE]
    for rows in SIZES:
        found = sorted((r for r in records if r["rows"] == rows), key=lambda r: r["iterations"])
        errors.plot(
            [r["fit_seconds"] for r in found],
            [r["rmse"] for r in found],
            "o-",
            label=f"{rows:,} samples",
        )
    errors.set(xscale="log", xlabel="time of the fit, s", ylabel="RMSE on unseen experiments, rad")
    errors.axhline(TARGET, color="grey", linewidth=0.8)
    errors.legend()
    sizes = sorted({r["rows"] for r in records})
    memory.plot(
        sizes,
        [max(r["memory_gib"] for r in records if r["rows"] == rows) for rows in sizes],
        "o-",
        label="process",
    )
    memory.plot(sizes, [rows * 14 * 4 / 1024**3 for rows in sizes], "o--", label="data on disk")
    memory.set(xscale="log", xlabel="samples", ylabel="largest memory, GiB", ylim=(0, None))
    memory.legend()
    drawing.savefig(target, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/arm"))
    parser.add_argument(
        "--one",
        nargs=2,
        type=int,
        metavar=("ROWS", "ITERATIONS"),
        help="one fit; prints its record",
    )
    parser.add_argument("--docs", type=Path, help="write the table into this page")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--default", nargs="+", type=int, help="sizes for the default preset")
    parser.add_argument("--report-only", action="store_true")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit(*options.one, options.out)))
        return
    from prssm.evaluation.jobs.results import Results

    results = Results(options.out, "records.jsonl")
    wanted = list(product(SIZES, BUDGETS))
    if options.default:
        wanted = [(rows, WHOLE) for rows in options.default]
    for rows, iterations in [] if options.report_only else wanted:
        record = results.once(in_own_process, rows, iterations, folder=options.out)
        print({name: record[name] for name in SHOWN}, flush=True)
    records = list(results.records.values())
    print(table(records))
    if options.docs:
        page = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(with_section(page, "arm", table(records)), encoding="utf-8")
    if options.figure:
        figure(records, options.figure)


if __name__ == "__main__":
    main()
