r"""Tables of `generalisation.py`: variants of training, rules of choice, calibrations.

    python studies/generalisation_report.py runs/generalisation \
        --docs docs/accuracy.md --figure docs/figures/coverage.png
"""

import argparse
import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from page_sections import with_section
from scipy.stats import norm, t

from prssm.models.prssm.calibration import Calibration
from prssm.models.prssm.levels import levels_of
from prssm.models.prssm.selection import HeldOut, mixed
from prssm.prediction.correlation import lag_one

LEVELS = tuple(level.name for level in levels_of("auto", 1.0))
TASKS = (
    "actuator",
    "ballbeam",
    "drives",
    "furnace",
    "dryer",
    "cascaded_tanks",
    "ced1",
    "ced2",
    "duffing",
    "drift",
    "valve",
    "quad",
    "drives_sim",
    "tanks_sim",
)
TRAININGS = {
    "base": "free level: 4 states, N = 10, 1000 iterations",
    "long": "2000 iterations",
    "n50": "N = 50",
    "dx6": "6 states",
    "small": "signal deviation 0.1",
    "warm25": "KL in after a quarter",
    "p40": "40 inducing points",
    "h50": "horizon 50",
    "lr05": "step size 0.05",
    "predictive": "predictive likelihood",
    "step": "a new function at every step",
    "steplong": "the same, 2000 iterations",
    "stepn4": "the same, N = 4",
    "dx6step": "the same, 6 states",
    "dx6stepn4": "the same, 6 states, N = 4",
    "dx8step": "the same, 8 states",
    "corr": "correlated noise",
    "corrstep": "the same, a new function at every step",
    "dx6corrstep": "the same, 6 states",
    "held": "held level",
    "heldstep": "the same, a new function at every step",
    "six": "free level: 6 states, N = 4, 20 inducing points",
    "sixlong": "2000 iterations",
    "sixsteplong": "2000 iterations, a new function at every step",
    "sixlr05long": "2000 iterations, step size 0.05",
    "sixh200": "horizon 200",
    "sixb30": "30 sub-trajectories a batch",
    "sixp10": "10 inducing points",
    "sixp6": "6 inducing points",
    "sixp10long": "10 inducing points, 2000 iterations",
    "sixp10b30n2": "10 inducing points, 30 sub-trajectories, N = 2",
    "sixn2b20long": "20 sub-trajectories, N = 2, 2000 iterations",
    "now": "10 inducing points, 20 sub-trajectories, N = 2, 2000 iterations: the preset",
    "sixcorr": "correlated noise: 6 states, N = 4, 20 inducing points",
    "sixcorrp10long": "10 inducing points, 2000 iterations",
    "nowcorr": "as the preset",
    "nowheld": "held level as the preset",
    "nowheldprior1": "prior of deviation 0.1",
    "nowheldcorr": "correlated noise",
}
SIMULATED = ("duffing", "drift", "valve", "quad", "drives_sim", "tanks_sim")
NOMINAL = (0.5, 0.8, 0.9, 0.95, 0.99)
_MEMBERS = 4
_MARGIN = 0.1


class Run(NamedTuple):
    """Mean and variance of a mixture's free run over unseen data."""

    mean: np.ndarray
    var: np.ndarray


class Study:
    """One record: what each level (or mixture of levels) did on held-out stretches and on unseen
    data.
    """

    def __init__(self, path: Path) -> None:
        self.arrays = np.load(path)
        self.record = json.loads(str(self.arrays["record"]))
        self.y = self.arrays["y"]
        self.folds = sum(
            name.startswith("linear.") and name.endswith(".hy") for name in self.arrays.files
        )

    def members(self, label: str, share: float = 1.0) -> np.ndarray:
        """Restarts that the estimator would keep of a group."""
        indices = np.arange(*self.arrays[f"{label}.range"])
        final = self.arrays["final"]
        indices = indices[np.isfinite(final[indices])]
        indices = indices[np.argsort(-final[indices], kind="stable")][:_MEMBERS]
        margin = np.inf if label.startswith("linear") else _MARGIN * self.record["steps"] * share
        return indices[final[indices] >= final[indices[0]] - margin]

    def held_out(self, level: str) -> HeldOut:
        errors = []
        stds = []
        for fold in range(self.folds):
            label = f"{level}.{fold}"
            kept = self.members(label, 1.0 - 1.0 / self.folds) - self.arrays[f"{label}.range"][0]
            mean = self.arrays[f"{label}.hmean"][kept]
            var = self.arrays[f"{label}.hvar"][kept]
            mean = np.where(np.isfinite(mean), mean, 1e3)
            errors.append(self.arrays[f"{label}.hy"] - mean.mean(axis=0))
            stds.append(np.sqrt(var.mean(axis=0) + mean.var(axis=0)))
        return HeldOut(errors, stds)

    def unseen(self, levels: tuple[str, ...]) -> Run:
        each = [self.arrays["mean"][self.members(f"{level}.-1")] for level in levels]
        spread = [self.arrays["var"][self.members(f"{level}.-1")] for level in levels]
        means = np.array([mean.mean(axis=0) for mean in each])
        variances = [
            var.mean(axis=0) + mean.var(axis=0) for mean, var in zip(each, spread, strict=True)
        ]
        return Run(means.mean(axis=0), np.mean(variances, axis=0) + means.var(axis=0))

    def error(self, levels: tuple[str, ...]) -> float:
        return float(np.sqrt(np.nanmean((self.y - self.unseen(levels).mean) ** 2)))


Held = dict[str, HeldOut]
MIXTURES = [picked for size in range(1, len(LEVELS) + 1) for picked in combinations(LEVELS, size)]


def near(held: Held, score: Callable[[HeldOut], float], share: float) -> tuple[str, ...]:
    scores = {level: score(found) for level, found in held.items()}
    return tuple(level for level in LEVELS if scores[level] <= (1.0 + share) * min(scores.values()))


def best_mixture(held: Held, score: Callable[[HeldOut], float]) -> tuple[str, ...]:
    return min(MIXTURES, key=lambda levels: score(mixed([held[level] for level in levels])))


RULES: dict[str, Callable[[Held], tuple[str, ...]]] = {
    "levels within 5 % by geometric mean over the stretches": lambda held: near(
        held, lambda h: h.typical, 0.05
    ),
    "within 2 %": lambda held: near(held, lambda h: h.typical, 0.02),
    "within 10 %": lambda held: near(held, lambda h: h.typical, 0.10),
    "the best alone": lambda held: near(held, lambda h: h.typical, 0.0),
    "within 5 % by root mean square": lambda held: near(held, lambda h: h.rmse, 0.05),
    "the best alone by root mean square": lambda held: near(held, lambda h: h.rmse, 0.0),
    "the best of all mixtures by geometric mean": lambda held: best_mixture(
        held, lambda h: h.typical
    ),
    "the best of all mixtures by root mean square": lambda held: best_mixture(
        held, lambda h: h.rmse
    ),
    **{f"always `{level}`": (lambda held, level=level: (level,)) for level in LEVELS},
    "always all of them": lambda held: LEVELS,
}


def _ratios(found: HeldOut) -> list[np.ndarray]:
    return [error / std for error, std in zip(*found, strict=True)]


def _quantiles(*shares: float) -> Callable[[HeldOut], np.ndarray]:
    """Geometric mean of the factors with which bands would hold these shares of the held-out
    errors, (Dy,).
    """

    def factor(found: HeldOut) -> np.ndarray:
        ratio = np.abs(np.concatenate(_ratios(found)))
        return np.exp(
            np.mean(
                [
                    np.log(
                        np.nanquantile(ratio, share, axis=0, method="higher")
                        / norm.ppf(0.5 + 0.5 * share)
                    )
                    for share in shares
                ],
                axis=0,
            )
        )

    return factor


def _student(factor: Callable[[HeldOut], np.ndarray]) -> Callable[[HeldOut], np.ndarray]:
    """As much wider as a 95 % band is under Student's distribution with as many degrees of freedom
    as the held-out errors, which are correlated in time, are worth independent ones.
    """

    def widened(found: HeldOut) -> np.ndarray:
        ratios = _ratios(found)
        correlation = lag_one(ratios)
        looks = (
            np.isfinite(np.concatenate(ratios)).sum(axis=0)
            * (1.0 - correlation)
            / (1.0 + correlation)
        )
        return factor(found) * t.ppf(0.975, np.maximum(looks, 2.0)) / norm.ppf(0.975)

    return widened


def _rms(found: HeldOut) -> np.ndarray:
    return np.sqrt(np.nanmean(np.concatenate(_ratios(found)) ** 2, axis=0))


FACTORS: dict[str, Callable[[HeldOut], np.ndarray]] = {
    "none: the model's own": lambda found: np.ones(1),
    "the preset: quantiles at 90 and 95 %": lambda found: Calibration.fit(*found).factor,
    "90 %": _quantiles(0.9),
    "95 %": _quantiles(0.95),
    "97 %": _quantiles(0.97),
    "50, 70 and 90 %": _quantiles(0.5, 0.7, 0.9),
    "90 and 95 %, Student's distribution": _student(_quantiles(0.9, 0.95)),
    "50, 70 and 90 %, Student's distribution": _student(_quantiles(0.5, 0.7, 0.9)),
    "root mean square": _rms,
    "root mean square, Student's distribution": _student(_rms),
}


def default_choice(study: Study) -> tuple[HeldOut, Run]:
    """Held-out errors and unseen run of what the first rule, that of the default preset,
    chooses.
    """
    chosen = RULES[next(iter(RULES))]({level: study.held_out(level) for level in LEVELS})
    return mixed([study.held_out(level) for level in chosen]), study.unseen(chosen)


def coverage(study: Study, factor: np.ndarray, run: Run, nominal: float) -> float:
    return float(
        np.mean(
            np.abs(study.y - run.mean) < norm.ppf(0.5 + 0.5 * nominal) * factor * np.sqrt(run.var)
        )
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _mean_error(paths: list[Path]) -> float:
    """Geometric mean over the seeds that were run of the error of the kept restarts; not a number
    if none was.
    """
    errors = [study.error((study.record["level"],)) for study in map(Study, paths)]
    return float(np.exp(np.mean(np.log(errors)))) if errors else np.nan


def training_table(folder: Path) -> str:
    """Error of one level, task by task, and the mean log ratio to the first row."""
    rows = []
    reference = None
    for variant, title in TRAININGS.items():
        errors = [_mean_error(sorted(folder.glob(f"{task}-{variant}-*.npz"))) for task in TASKS]
        reference = errors if reference is None else reference
        ratio = np.exp(np.nanmean(np.log(np.array(errors) / reference)))
        rows.append(
            [
                title,
                *(("not run" if np.isnan(error) else f"{error:.3f}") for error in errors),
                f"{ratio:.2f}",
            ]
        )
    return table(["", *TASKS, "ratio"], rows)


def rule_table(studies: dict[str, Study]) -> str:
    """Error of what each rule chooses, and the mean log ratio to the best that any mixture of
    levels could have.
    """
    held = {
        task: {level: study.held_out(level) for level in LEVELS} for task, study in studies.items()
    }
    best = {
        task: min(study.error(levels) for levels in MIXTURES) for task, study in studies.items()
    }
    rows = []
    for title, rule in RULES.items():
        errors = [study.error(rule(held[task])) for task, study in studies.items()]
        ratio = np.exp(np.mean(np.log(np.array(errors) / list(best.values()))))
        rows.append([title, *(f"{error:.3f}" for error in errors), f"{ratio:.2f}"])
    return table(["", *studies, "ratio"], rows)


def band_table(studies: dict[str, Study]) -> str:
    """Coverage of two deviations on unseen data, and the mean log-likelihood over all tasks, for
    each calibration.
    """
    rows = []
    for title, factor in FACTORS.items():
        inside = []
        likelihood = []
        for study in studies.values():
            found, run = default_choice(study)
            std = factor(found) * np.sqrt(run.var)
            inside.append(np.mean(np.abs(study.y - run.mean) < 2.0 * std))
            likelihood.append(np.mean(norm.logpdf(study.y, run.mean, std)))
        rows.append([title, *(f"{share:.2f}" for share in inside), f"{np.mean(likelihood):.2f}"])
    return table(["", *studies, "log-likelihood"], rows)


def likelihood_table(studies: dict[str, Study]) -> str:
    """Mean log-likelihood of unseen measurements, task by task, beside that of a linear model with
    its own band.
    """
    ours = []
    linear = []
    for study in studies.values():
        found, run = default_choice(study)
        ours.append(
            np.mean(
                norm.logpdf(study.y, run.mean, Calibration.fit(*found).factor * np.sqrt(run.var))
            )
        )
        linear.append(
            np.mean(norm.logpdf(study.y, study.arrays["linear_mean"], study.arrays["linear_std"]))
        )
    return table(
        ["", *studies],
        [
            ["the preset", *(f"{value:.2f}" for value in ours)],
            ["method `linear`", *(f"{value:.2f}" for value in linear)],
        ],
    )


def nominal_table(studies: dict[str, Study]) -> str:
    """Share of fresh measurements of simulated systems inside the calibrated band, for several
    nominal shares.
    """
    rows = []
    for task in SIMULATED:
        found, run = default_choice(studies[task])
        factor = Calibration.fit(*found).factor
        rows.append(
            [
                task,
                *(
                    f"{coverage(studies[task], factor, run, nominal=nominal):.2f}"
                    for nominal in NOMINAL
                ),
            ]
        )
    mean = np.mean([[float(value) for value in row[1:]] for row in rows], axis=0)
    return table(
        ["nominal", *(f"{nominal:.2f}" for nominal in NOMINAL)],
        [*rows, ["mean", *(f"{m:.2f}" for m in mean)]],
    )


def draw_nominal(studies: dict[str, Study], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 4.4), layout="constrained")
    axes = figure.subplots()
    nominal = np.linspace(0.02, 0.995, 60)
    axes.plot([0, 1], [0, 1], "k--", lw=1, label="as it says")
    for task in SIMULATED:
        found, run = default_choice(studies[task])
        factor = Calibration.fit(*found).factor
        axes.plot(
            nominal,
            [coverage(studies[task], factor, run, nominal=share) for share in nominal],
            label=task,
        )
    axes.set(
        xlabel="nominal share inside the band",
        ylabel="share of fresh measurements inside",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    paths = {task: options.folder / f"{task}-choice-0.npz" for task in TASKS}
    studies = {task: Study(path) for task, path in paths.items() if path.exists()}
    parts = {
        "training": training_table(options.folder),
        "choice": rule_table(studies),
        "band": band_table(studies),
        "likelihood": likelihood_table(studies),
        "nominal": nominal_table(studies),
    }
    print("\n\n".join(parts.values()))
    if options.figure:
        draw_nominal(studies, options.figure)
    if options.docs:
        page = options.docs.read_text()
        for name, text in parts.items():
            page = with_section(page, f"generalisation-{name}", text)
        options.docs.write_text(page)


if __name__ == "__main__":
    main()
