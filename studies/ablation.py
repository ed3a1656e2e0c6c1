r"""What each ingredient of the default preset is worth: errors on held-out training stretches.

    PRSSM_DATA=... python studies/ablation.py \
        [--sets drives furnace] [--variants free held] [--out runs/ablation.jsonl]
    PRSSM_DATA=... python studies/ablation.py --report-only

Every third of the training part is predicted, in a free run, by a mixture of four models that were
trained on the other two thirds. The table has the root mean square error over all rows, in units of
the output's deviation, and the share of the measurements inside the mixture's own 2-sigma band,
before any calibration. Recorded rows are not run again. Test parts are never read.
"""

import argparse
from itertools import product
from pathlib import Path

SETS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks")
BASE = {
    "complexity": "held",
    "latent_dim": 4,
    "inducing": 20,
    "samples": 20,
    "batch": 10,
    "iterations": 500,
    # of which the held level takes half
    "signal_std": 0.1,
    "restarts": 8,
    "folds": 3,
    "fold_restarts": 8,
}
FREE = {"complexity": "free", "fold_restarts": 4}
PAPER = FREE | {
    "start": "random",
    "mean": "identity",
    "emission": "selector",
    "inducing_covariance": "diagonal",
    "draws": "step",
    "signal_std": 0.5,
    "z_std": 0.01,
    "lengthscale": 2**0.5,
    "process_std": 0.002,
    "learning_rate": 0.05,
}
VARIANTS: dict[str, tuple[str, dict]] = {
    "paper": ("the paper's random start", PAPER),
    "free": ("random walk with linear mean and emission: level 'free'", FREE),
    "start": ("linear start, not trained", {"iterations": 0}),
    "loose": ("linear start, trained freely", {"prior_std": 1e3}),
    "held": ("linear start with a prior around it: level 'held'", {}),
    "held-step": ("held, a new function at every step", {"draws": "step"}),
    "held-fast": ("held, step size 0.05", {"learning_rate": 0.05}),
    "held-6": ("held, 6 latent dimensions", {"latent_dim": 6}),
    "held-signal": ("held, signal deviation 0.5 at the start", {"signal_std": 0.5}),
}


def study(name: str, variant: str, options: dict) -> dict:
    """One variant, with its options, on one data set."""
    from prssm import PRSSM, datasets

    train, _ = datasets.load(name)
    model = PRSSM("default", **options).fit(train)
    found = model.held_out_[model.level_]
    return {"set": name, "variant": variant, "seconds": round(model.training_.seconds, 1), **found}


def table(rows: list[dict], sets: list[str]) -> str:
    """Markdown; one row for each variant, error (share inside the band) for each set."""
    found = {(row["variant"], row["set"]): row for row in rows}
    lines = ["| | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for variant, (words, _) in VARIANTS.items():
        cells = [found.get((variant, name)) for name in sets]
        if any(cells):
            shown = (
                f"{cell['rmse']:.3f} ({cell['inside']:.2f})" if cell else "not run"
                for cell in cells
            )
            lines.append(f"| {words} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--out", type=Path, default=Path("runs/ablation.jsonl"))
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    results = Results(options.out.parent, options.out.name)
    for variant, name in product(options.variants, options.sets) if not options.report_only else ():
        print(results.once(study, name, variant, BASE | VARIANTS[variant][1]), flush=True)
    print(table(list(results.records.values()), options.sets))


if __name__ == "__main__":
    main()
