r"""Options of the reference methods that the papers leave open, chosen on training parts.

    PRSSM_DATA=... python studies/reference_choices.py \
        --methods nigp msgp ss-gp-ssm --out runs/choices

Each candidate is fitted on the first two thirds of a training part and runs freely over the last
third. Test parts are never used. The rule, written down before the first run: the candidate with
the lowest geometric mean, over the five sets and the seeds, of its RMSE divided by that of a
constant (the mean of the first two thirds) is the default for ALL sets. A fit that fails or a run
that diverges counts as `CEILING`. References are shown for comparison and cannot win.

One JSON line for each fit is kept in OUT/choices.jsonl; what is there is not run again. The tables
go to OUT/choices.md.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.evaluation.benchmark.plan import PAPER_SETS
from prssm.evaluation.jobs.results import Results
from prssm.models.registry import method

CEILING = 10.0  # ratio of a run that left the numbers
# NIGP has no randomness; the others cost minutes a set
SEEDS = {"nigp": 1, "msgp": 1, "ss-gp-ssm": 1}


def _nigp() -> dict[str, dict[str, Any]]:
    """McHutchon and Rasmussen learn a noise for each input; for lags the output's own noise is the
    natural tie.

    `iterations` is how far hyper-parameters are searched before the slopes are taken anew.
    """
    return {
        f"{noise}, {iterations} a round, start {start}": {
            "window_noise": noise,
            "iterations": iterations,
            "noise_start": start,
        }
        for noise in ("each", "tied", "outputs")
        for iterations in (100, 15)
        for start in (0.03, 0.1)
    }


def _msgp() -> dict[str, dict[str, Any]]:
    """How long to train, how far to predict, how many sub-trajectories a step."""
    plans = ((150, 50, 5), (50, 50, 5), (500, 50, 5), (150, 20, 5), (150, 100, 5), (500, 20, 10))
    return {
        f"{iterations} steps, horizon {horizon}, batch {batch}": {
            "iterations": iterations,
            "horizon": horizon,
            "batch": batch,
        }
        for iterations, horizon, batch in plans
    }


def _ss_gp_ssm() -> dict[str, dict[str, Any]]:
    """The prior mean of the transition and the centres of the kernel's prior; half of the usual
    iterations.
    """
    plans = (
        ("linear", 3.0, 2.0),
        ("zero", 3.0, 2.0),
        ("linear", 1.0, 2.0),
        ("linear", 10.0, 2.0),
        ("linear", 3.0, 1.0),
    )
    return {
        f"mean {mean}, signal {signal:g}, length scale {scale:g}": {
            "mean": mean,
            "signal_std": signal,
            "lengthscale": scale,
            "iterations": 1000,
        }
        for mean, signal, scale in plans
    }


CANDIDATES = {"nigp": _nigp(), "msgp": _msgp(), "ss-gp-ssm": _ss_gp_ssm()}
REFERENCES: dict[str, dict[str, dict[str, Any]]] = {
    "nigp": {"exact GP": {"window_noise": "none", "iterations": 100}}
}


def held_back(dataset: str) -> tuple[Record, Record]:
    """The first two thirds of the training part, and its last third."""
    train, _ = catalogue.load(dataset)
    assert isinstance(train, Record)
    cut = len(train) * 2 // 3
    return train[:cut], train[cut:]


def study(name: str, dataset: str, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """One fit: its ratio to the constant, what training reached, and the time it took."""
    first, last = held_back(dataset)
    lags = (
        {"lags": catalogue.describe(dataset).lags} if "lags" in method(name).Config.names() else {}
    )
    model = method(name)(seed=seed, **lags, **options)
    constant = float(np.sqrt(np.mean((last.y - first.y.mean(axis=0)) ** 2)))
    begun = time.perf_counter()
    why = None
    try:
        rmse = model.fit(first).evaluate(last)["rmse"]
    except Exception as error:  # whatever goes wrong is this candidate's result
        rmse = np.inf
        why = f"{type(error).__name__}: {error}"
    ratio = float(np.clip(rmse / constant, 0.0, CEILING)) if np.isfinite(rmse) else CEILING
    reached = (
        None if model.training_ is None else float(model.training_.final[model.training_.kept])
    )
    return {
        "ratio": ratio,
        "objective": reached,
        "seconds": round(time.perf_counter() - begun, 1),
        "failed": why,
    }


def row(
    name: str, dataset: str, options: dict[str, Any], seed: int, candidate: str
) -> dict[str, Any]:
    """What is kept of one fit, with the words that the table looks for."""
    found = study(name, dataset, options, seed=seed)
    return {"method": name, "set": dataset, "candidate": candidate, "seed": seed, **found}


def mean_ratio(ratios: list[float]) -> float:
    """Their geometric mean: halving an error counts the same on every set."""
    return float(np.exp(np.mean(np.log(ratios))))


def table(name: str, rows: dict[str, dict[str, Any]], datasets: list[str]) -> str:
    """The candidates of a method, best first, in Markdown."""
    lines = []
    for label in [*CANDIDATES[name], *REFERENCES.get(name, {})]:
        own = [row for row in rows.values() if (row["method"], row["candidate"]) == (name, label)]
        found = {
            dataset: [row["ratio"] for row in own if row["set"] == dataset] for dataset in datasets
        }
        if all(found.values()):
            each = [mean_ratio(ratios) for ratios in found.values()]
            note = " (reference)" if label in REFERENCES.get(name, {}) else ""
            lines.append(
                (
                    mean_ratio(each),
                    f"| {label}{note} | " + " | ".join(f"{value:.3f}" for value in each),
                )
            )
    head = (
        f"| {name} | "
        + " | ".join(datasets)
        + " | geometric mean |\n"
        + "|---" * (len(datasets) + 2)
        + "|\n"
    )
    return head + "".join(f"{text} | {mean:.4f} |\n" for mean, text in sorted(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=list(CANDIDATES), choices=list(CANDIDATES))
    parser.add_argument("--datasets", nargs="+", default=list(PAPER_SETS))
    parser.add_argument("--out", type=Path, default=Path("runs/choices"))
    options = parser.parse_args()
    results = Results(options.out, "choices.jsonl")
    for name in options.methods:
        choices = CANDIDATES[name] | REFERENCES.get(name, {})
        jobs = [
            (d, label, seed)
            for d in options.datasets
            for label in choices
            for seed in range(SEEDS[name])
        ]
        for dataset, label, seed in jobs:
            found = results.once(row, name, dataset, choices[label], seed, candidate=label)
            print(found, flush=True)
    text = "\n".join(table(name, results.records, options.datasets) for name in options.methods)
    (options.out / "choices.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
