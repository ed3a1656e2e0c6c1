"""Robot arms: torques in, joint positions out.

    PRSSM_DATA=... python studies/robots.py --sets sarcos barrett --docs docs/studies/robots.md
    PRSSM_DATA=... python studies/robots.py --sets sarcos --methods paper --part validation

The paper's large experiment (Sarcos), a Barrett arm and a simulated arm. `--part validation` trains
without every tenth training experiment and scores there, so that a configuration can be chosen
without the test part. Records that exist are not made again; the table and the figure of all joints
are made from them. Sarcos is scored once more on the rows that were measured: in the reconstructed
file the others are interpolated.
"""

import argparse
import json
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from prssm.report.page_sections import with_section

SETS = ("sarcos", "barrett", "arm_sim")
# Inducing points, samples and mini-batch of `paper` are those of the published Sarcos run. One
# restart of 1500 iterations
# was chosen for its time, and looked at with --part validation alone.
SIZES = {"latent_dim": 14, "inducing": 50, "iterations": 1500, "restarts": 1, "stride": 1}
LONGEST = 337  # rows of an experiment: the Barrett arm's one record is cut into such
METHODS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "constant": ("constant", "default", {}),
    "gp-narx": ("gp-narx", "sarcos", {"lags": 2}),
    "paper": ("prssm", "paper", SIZES | {"samples": 20, "batch": 5, "engine": "auto-single"}),
    "default": (
        "prssm",
        "default",
        SIZES | {"samples": 10, "batch": 10, "complexity": "free", "folds": 0},
    ),
}


def parts(name: str, part: str) -> tuple[list, list, list[np.ndarray]]:
    """Training records, records to predict, and which rows of those were measured."""
    from prssm import datasets

    train, test = (part if isinstance(part, list) else [part] for part in datasets.load(name))
    rows_train, rows_test = datasets.measured_rows(name)
    (train, rows) = in_experiments(train, rows_train)
    (test, rows_test) = in_experiments(test, rows_test)
    if part == "test":
        return train, test, rows_test
    kept = [i for i in range(len(train)) if i % 10 != 9]
    held_out = range(9, len(train), 10)
    return [train[i] for i in kept], [train[i] for i in held_out], [rows[i] for i in held_out]


def in_experiments(records: list, rows: list[np.ndarray]) -> tuple[list, list[np.ndarray]]:
    """The same data in experiments at most as long as those of Sarcos; the rest of a record is left
    out.
    """
    cut = [
        (i, a, b)
        for i, record in enumerate(records)
        for a, b in pairwise(range(0, len(record) + 1, min(LONGEST, len(record))))
    ]
    return [records[i][a:b] for i, a, b in cut], [rows[i][a:b] for i, a, b in cut]


def study(
    name: str, label: str, part: str, seed: int, options: dict[str, Any], out: Path
) -> dict[str, Any]:
    """Train and score one method; the runs go into an array file for the figure."""
    from prssm.evaluation.jobs.provenance import provenance
    from prssm.models.registry import method

    train, test, measured = parts(name, part)
    kind, preset, fixed = METHODS[label]
    known = method(kind).Config.names()
    model = method(kind)(
        preset, **{k: v for k, v in (fixed | options | {"seed": seed}).items() if k in known}
    )
    begun = time.perf_counter()
    model.fit(train, progress=True)
    seconds = time.perf_counter() - begun
    runs = [model.simulate(record, seed=seed) for record in test]
    error = np.concatenate([record.y - run.mean for record, run in zip(test, runs, strict=True)])
    inside = np.abs(error) < 2.0 * np.concatenate([run.std for run in runs])
    real = np.concatenate(measured)
    joints = np.sqrt(np.nanmean(error**2, axis=0))
    data = "sarcos reconstructed" if name == "sarcos" and not real.all() else name
    record = {
        "set": name,
        "data": data,
        "method": label,
        "part": part,
        "seed": seed,
        "options": fixed | options,
        "rmse": _rms(error),
        "rmse_measured_rows": _rms(error[real]),
        "rmse_joints": joints.tolist(),
        "coverage_2sigma": float(inside[~np.isnan(error)].mean()),
        "fit_seconds": round(seconds, 1),
        "rows": sum(len(r) for r in train),
        **provenance(),
    }
    arrays = {"y": test[0].y, "mean": runs[0].mean, "std": runs[0].std}
    np.savez_compressed(out / f"{name}-{label}-{part}-{seed}.npz", **arrays)
    return record


def _rms(error: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(error**2)))


def table(records: list[dict[str, Any]], part: str) -> str:
    """Markdown: one row for each method and set, the mean over seeds."""
    lines = [
        "| data | method | RMSE, rad | measured rows | inside 2 sigma | fit, s | seeds |",
        "|---" * 7 + "|",
    ]
    groups: dict[tuple[str, str], list] = {}
    for record in records:
        if record["part"] == part:
            groups.setdefault((record["data"], record["method"]), []).append(record)
    for (data, label), found in groups.items():
        rmse, measured, inside, seconds = (
            np.mean([record[what] for record in found])
            for what in ("rmse", "rmse_measured_rows", "coverage_2sigma", "fit_seconds")
        )
        lines.append(
            f"| {data} | {label} | {rmse:.3f} | {measured:.3f} | {inside:.2f} | {seconds:.0f} | "
            f"{len(found)} |"
        )
    made = {
        (record["machine"], record["commit"][:7]) for group in groups.values() for record in group
    }
    machines, commits = (", ".join(sorted(set(part))) for part in zip(*made, strict=True))
    return "\n".join([*lines, "", f"Machine: {machines}; commits {commits}."])


def figure(name: str, labels: list[str], title: str, out: Path, target: Path) -> None:
    """All joints of the first test experiment, measured and as each method runs them freely."""
    from matplotlib.figure import Figure

    runs = {label: np.load(out / f"{name}-{label}-test-0.npz") for label in labels}
    data = next(iter(runs.values()))
    drawing = Figure(figsize=(9, 9), layout="constrained")
    for joint, ax in enumerate(drawing.subplots(4, 2, sharex=True).ravel()):
        if joint == data["y"].shape[1]:
            ax.axis("off")
            ax.legend(*drawing.axes[0].get_legend_handles_labels(), loc="center")
            continue
        ax.plot(data["y"][:, joint], color="black", linewidth=1.0, label="measured")
        for label, run in runs.items():
            (line,) = ax.plot(run["mean"][:, joint], linewidth=1.0, label=label)
            low, high = (
                run["mean"][:, joint] + sign * 2 * run["std"][:, joint] for sign in (-1, 1)
            )
            ax.fill_between(
                np.arange(len(low)), low, high, color=line.get_color(), alpha=0.15, linewidth=0
            )
        reach = data["y"][:, joint]
        ax.set_ylim(
            reach.min() - 0.5 * np.ptp(reach) - 0.05, reach.max() + 0.5 * np.ptp(reach) + 0.05
        )
        ax.set_ylabel(f"joint {joint + 1}, rad")
    drawing.suptitle(title)
    drawing.supxlabel("sample")
    drawing.savefig(target, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["sarcos"], choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--part", default="test", choices=("test", "validation"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--set", nargs="*", default=[], dest="options", help="options of the method, as NAME=JSON"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/robots"))
    parser.add_argument("--docs", type=Path, help="write the table into this page")
    parser.add_argument("--figure", type=Path, help="draw all joints of the first test experiment")
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    options.out.mkdir(parents=True, exist_ok=True)
    results = Results(options.out, "records.jsonl")
    changed = {
        name: json.loads(value) for name, value in (pair.split("=", 1) for pair in options.options)
    }
    for name, label in product(options.sets, options.methods):
        own = METHODS[label][2] | changed
        results.once(study, name, label, options.part, options.seed, own, out=options.out)
    records = list(results.records.values())
    found = table([r for r in records if r["set"] in options.sets], options.part)
    print(found)
    if options.docs:
        options.docs.write_text(
            with_section(options.docs.read_text(encoding="utf-8"), "robots", found),
            encoding="utf-8",
        )
    if options.figure:
        name = options.sets[0]
        data = next(record["data"] for record in records if record["set"] == name)
        figure(
            name,
            [label for label in options.methods if label != "constant"],
            f"{data}: first test experiment, free run",
            out=options.out,
            target=options.figure,
        )


if __name__ == "__main__":
    main()
