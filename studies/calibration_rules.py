r"""Which rule makes a band hold? Tried off-line on what `benchmarks/calibration.py` has kept.

    python studies/calibration_rules.py runs/bands

A rule turns the errors of free runs over held-out stretches into factors of the model's own
deviations, one for each output or for each row. Nothing is trained: the table says how the bands of
all recordings would have done on their test parts. Parameters were chosen on the random systems
with even numbers; `odd` has those with odd numbers, and the tasks and kinds.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.band.witnesses import WITH_WITNESSES, jackknife
from prssm.models.prssm.levels import Level
from prssm.prediction.correlation import independent_values
from prssm.prediction.gaussian import half_width, log_density, student_factor
from prssm.prediction.seen import Seen, range_of
from prssm.prediction.widening import widening

Kept = dict[str, np.ndarray]
Rule = Callable[[Kept], np.ndarray]  # (Dy,) or (T, Dy), by which `test_std` is multiplied
LEVELS = (0.5, 0.8, 0.95)
BAND = (0.85, 0.99)


def stretches(kept: Kept, name: str) -> list[np.ndarray]:
    """An array that was kept end to end, cut into the stretches that were held out."""
    return np.split(kept[name], np.cumsum(kept["held_rows"])[:-1])


def none(kept: Kept) -> np.ndarray:
    """The model's own band."""
    return np.ones(kept["test_std"].shape[1])


def held_out(kept: Kept, together: bool = False) -> Calibration:
    """From the errors of the folds' models alone: all stretches, lost ones limited or not."""
    if "held_error" not in kept:
        return Calibration.none(kept["test_std"].shape[1])
    if together:
        return Calibration.fit([kept["held_error"]], [kept["held_std"]])
    return Calibration.fit(stretches(kept, "held_error"), stretches(kept, "held_std"))


def typical(kept: Kept) -> np.ndarray:
    """The factor of the typical stretch: the median."""
    if "held_error" not in kept:
        return none(kept)
    parts = zip(stretches(kept, "held_error"), stretches(kept, "held_std"), strict=True)
    return np.median([Calibration.fit([error], [std]).factor for error, std in parts], axis=0)


def seen(kept: Kept) -> Calibration:
    """From the errors of the final model where it was trained."""
    if "held_error" not in kept:
        return Calibration.none(kept["test_std"].shape[1])
    return Calibration.fit(stretches(kept, "final_error"), stretches(kept, "final_std"))


def student(kept: Kept) -> np.ndarray:
    """Student's quantile for as many independent errors as the correlated ones are worth."""
    factor = held_out(kept).factor
    if "held_error" not in kept:
        return factor
    return factor * student_factor(independent_values(stretches(kept, "held_error")))


def of_quantiles(kept: Kept, shares: tuple[float, ...]) -> np.ndarray:
    """Pooled errors: the band that would have held these shares, geometric mean."""
    if "held_error" not in kept:
        return none(kept)
    ratio = np.abs(kept["held_error"] / kept["held_std"])
    found = [np.nanquantile(ratio, share, axis=0) / half_width(share) for share in shares]
    return np.clip(np.exp(np.mean(np.log(found), axis=0)), 0.5, 20.0)


def with_folds(kept: Kept, factor: np.ndarray) -> np.ndarray:
    """The spread of the folds' models over the test part is added (as jackknife+ has it)."""
    if "fold_mean" not in kept:
        return factor
    spread = np.mean((kept["fold_mean"] - kept["test_mean"]) ** 2, axis=0)
    return np.sqrt(factor**2 + spread / kept["test_std"] ** 2)


def wider_outside(kept: Kept, factor: np.ndarray) -> np.ndarray:
    """Wider where the run is outside of what was seen, and for a while after."""
    known = Seen.fit(
        [kept["train_state"]],
        [kept["train_u"]],
        input_range=range_of([kept["train_u"]]),
        output_range=range_of([kept["train_y"]]),
    )
    away = known.distance(kept["test_state"], kept["test_u"], kept["test_mean"])
    away = np.maximum(away, known.beyond_inputs(kept["test_u"]))
    return factor * widening(away)[:, None]


def witnessed(kept: Kept, weight: float) -> np.ndarray:
    """The wider of two reasons: the folds' models disagree, or the run is outside of what was seen.

    Run by run: what was kept of several is joined.
    """
    if "fold_mean" not in kept:
        return wider_outside(kept, adopted(kept))
    ends = np.cumsum(kept["test_rows"])[:-1]
    doubt = np.concatenate([jackknife(run) for run in np.split(kept["fold_mean"], ends, axis=1)])
    less = WITH_WITNESSES * adopted(kept)
    off = weight * doubt / (less * kept["test_std"])
    return np.maximum(wider_outside(kept, less), less * np.sqrt(1.0 + off**2))


def adopted(kept: Kept) -> np.ndarray:
    """The factor of GP levels that ships, without what whole records ask for.

    Runs over whole records are not kept.
    """
    return held_out(kept).toward(seen(kept), Level.seen_share).factor


RULES: dict[str, Rule] = {
    "the model's own band": none,
    "all held-out errors together": lambda kept: held_out(kept, together=True).factor,
    "the same, lost stretches limited": lambda kept: held_out(kept).factor,
    "errors of the typical stretch": typical,
    "quantiles at 68 and 95 %": lambda kept: of_quantiles(kept, (0.68, 0.95)),
    "Student, as many degrees of freedom as independent errors": student,
    "spread of the folds' models added": lambda kept: with_folds(kept, held_out(kept).factor),
    "toward the final model's errors": adopted,
    "wider outside": lambda kept: wider_outside(kept, held_out(kept).factor),
    "typical, wider outside": lambda kept: wider_outside(kept, typical(kept)),
    "the rule before: typical, a fifth toward, 15 %, wider outside": lambda kept: wider_outside(
        kept, 1.15 * typical(kept) ** 0.8 * seen(kept).factor ** 0.2
    ),
    "both": lambda kept: wider_outside(kept, adopted(kept)),
    "the jackknife of the folds' models, weight 1": lambda kept: witnessed(kept, 1.0),
    "weight 0.7": lambda kept: witnessed(kept, 0.7),
    "weight 0.5 (adopted)": lambda kept: witnessed(kept, 0.5),
    "weight 0.3": lambda kept: witnessed(kept, 0.3),
}


def judged(kept: Kept, factor: np.ndarray) -> dict[str, float]:
    """Coverage and log-likelihood of the test part under a rule's factors."""
    std = kept["test_std"] * factor
    error = kept["test_measured"] - kept["test_mean"]
    known = np.isfinite(error)
    z = (error / std)[known]
    found = {f"{level:.0%}": float(np.mean(np.abs(z) <= half_width(level))) for level in LEVELS}
    found["two"] = float(np.mean(np.abs(z) <= 2.0))
    found["likelihood"] = float(np.mean(log_density(z) - np.log(std[known])))
    return found


def row(name: str, judgements: list[dict[str, float]]) -> str:
    two = np.array([one["two"] for one in judgements])
    inside = np.mean((two >= BAND[0]) & (two <= BAND[1]))
    means = [np.mean([one[key] for one in judgements]) for key in ("50%", "80%", "95%")]
    cells = [
        name,
        f"{inside:.0%}",
        f"{np.mean(two < BAND[0]):.0%}",
        f"{np.mean(two > BAND[1]):.0%}",
    ]
    cells += [f"{mean:.3f}" for mean in means]
    cells.append(f"{np.mean([one['likelihood'] for one in judgements]):.3f}")
    return "| " + " | ".join(cells) + " |"


def parts(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Those on which parameters were chosen, and those on which they were not."""
    even = [r for r in records if r["group"] == "random" and int(r["name"][-3:]) % 2 == 0]
    chosen = {r["key"] for r in even}
    return {"all": records, "even": even, "odd": [r for r in records if r["key"] not in chosen]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    results = Results(options.folder, "calibration.jsonl")
    good = [record for record in results.records.values() if record["outcome"] == "ok"]
    kept = {record["key"]: results.arrays(record["key"]) for record in good}
    for part, records in parts(good).items():
        print(f"\n{part}: {len(records)} recordings\n")
        print("| rule | inside 0.85-0.99 | narrower | wider | 50 % | 80 % | 95 % | likelihood |")
        print("|---" * 8 + "|")
        for name, rule in RULES.items():
            print(row(name, [judged(kept[r["key"]], rule(kept[r["key"]])) for r in records]))


if __name__ == "__main__":
    main()
