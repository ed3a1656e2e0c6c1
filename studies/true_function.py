"""Is the true transition inside its band where data was?

    python studies/true_function.py --docs docs/studies/accuracy.md \\
        --figure docs/figures/true-function.png

The one state is the level h of a vessel with an outlet: h+ = h + 0.3 (u - sqrt(h)), measured with
noise. With the selector emission the latent state is the (scaled) level itself, so that the learnt
f(x, u) can be held against the true one. It is judged where fresh runs of the same kind go.
"""

import argparse
from pathlib import Path

import numpy as np

from prssm.report.page_sections import with_section

_FLOW = 0.3
_NOISE = 0.02
_ROWS = 400
_SEEDS = 5
_SHARED = {"latent_dim": 1, "samples": 10, "restarts": 4, "engine": "auto-single"}
VARIANTS = {
    "preset `paper`, N = 10": _SHARED,
    "one function for each trajectory, linear mean, full covariance, four members": _SHARED
    | {
        "mean": "linear",
        "inducing_covariance": "full",
        "draws": "trajectory",
        "z_std": 0.3,
        "signal_std": 0.2,
        "lengthscale": 2.0,
        "process_std": 0.01,
        "iterations": 1000,
        "learning_rate": 0.02,
        "members": 4,
    },
}


def transition(h: np.ndarray, u: np.ndarray) -> np.ndarray:
    return h + _FLOW * (u - np.sqrt(np.maximum(h, 0.0)))


def vessel(rows: int, seed: int):
    """A record and its true levels."""
    from prssm import Record

    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(0.3, 1.3, rows), rng.integers(2, 12, rows))[:rows]
    h = np.full(rows, 0.6)
    for t in range(rows - 1):
        h[t + 1] = transition(h[t], u[t])
    return Record(u, h + _NOISE * rng.normal(size=rows), name="vessel"), h


def learnt(model, h: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of f at levels and inputs, in the vessel's units; process noise is no part
    of the function.
    """
    import jax

    from prssm.foundation.precision import double_precision

    scaler = model.scaler_
    x = (h - scaler.y_mean) / scaler.y_std
    v = (u - scaler.u_mean) / scaler.u_std
    with double_precision():

        def one(member):
            dynamics = member.transition.condition()
            mean, var = dynamics(x[None], v[None])
            return mean[0], var[0] - dynamics.process_var[0]

        means, variances = (np.asarray(part) for part in jax.vmap(one)(model.mixture_.models))
    std = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
    return scaler.y_mean + scaler.y_std * means.mean(axis=0), scaler.y_std * std


def study(options: dict, seed: int) -> tuple[dict, object]:
    from prssm import PRSSM

    model = PRSSM("paper", **options, seed=seed).fit(vessel(_ROWS, seed)[0])
    record, h = vessel(1000, seed + 100)
    u = record.u[:, 0]
    mean, std = learnt(model, h, u)
    error = np.abs(mean - transition(h, u))
    score = model.evaluate(record)
    return {
        "inside": np.mean(error < 2.0 * std),
        "error": np.sqrt(np.mean(error**2)),
        "band": np.sqrt(np.mean(std**2)),
        "free run": score["rmse"],
        "free run inside": score["coverage_2sigma"],
    }, model


def draw(models: dict, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    record, h = vessel(_ROWS, 0)
    grid = np.linspace(0.0, 2.0, 200)
    for axes, (title, model) in zip(
        figure.subplots(1, len(models), sharey=True), models.items(), strict=True
    ):
        for u, colour in ((0.4, "tab:blue"), (0.8, "tab:green"), (1.2, "tab:red")):
            mean, std = learnt(model, grid, np.full_like(grid, u))
            axes.plot(grid, transition(grid, np.full_like(grid, u)) - grid, "k--", lw=1)
            axes.plot(grid, mean - grid, color=colour, label=f"u = {u}")
            axes.fill_between(
                grid, mean - grid - 2 * std, mean - grid + 2 * std, color=colour, alpha=0.25, lw=0
            )
            near = np.abs(record.u[:, 0] - u) < 0.1
            axes.plot(h[near], np.full(near.sum(), -0.36), "|", color=colour, alpha=0.5)
        axes.set(
            title=title if len(title) < 40 else "one function for each trajectory",
            xlabel="level",
            ylim=(-0.4, 0.5),
        )
    figure.axes[0].set_ylabel("change of the level in a step")
    figure.axes[0].legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    head = [
        "",
        "true f inside 2 deviations",
        "error of f",
        "deviation of f",
        "free run, RMSE",
        "inside 2 sigma",
    ]
    lines = [head, ["---"] * len(head)]
    first = {}
    for title, variant in VARIANTS.items():
        found = [study(variant, seed) for seed in range(_SEEDS)]
        first[title] = found[0][1]
        means = {name: np.mean([scores[name] for scores, _ in found]) for name in found[0][0]}
        lines.append(
            [
                title,
                f"{means['inside']:.2f}",
                f"{means['error']:.4f}",
                f"{means['band']:.4f}",
                f"{means['free run']:.4f}",
                f"{means['free run inside']:.2f}",
            ]
        )
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    print(text)
    if options.figure:
        draw(first, options.figure)
    if options.docs:
        options.docs.write_text(with_section(options.docs.read_text(), "true-function", text))


if __name__ == "__main__":
    main()
