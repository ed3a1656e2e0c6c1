r"""The picture of the README: a free run with its band beside that of the linear model.

    python studies/readme_picture.py --out docs/figures/free-run.png

Simulated electric drives, the default preset, one seed.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

_SHOWN = 250  # rows of the test part


def main() -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import prssm

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/figures/free-run.png"))
    options = parser.parse_args()
    train, test = prssm.datasets.load("drives_sim")
    ours = prssm.PRSSM().fit(train).free_runs(test)[0]
    linear = prssm.LinearSSM().fit(train).free_runs(test)[0]
    rows = slice(0, _SHOWN)
    at = np.arange(_SHOWN)
    lower, upper = ours.interval(0.95)
    figure, ax = plt.subplots(figsize=(9.0, 3.2), dpi=120)
    ax.fill_between(
        at,
        lower[rows, 0],
        upper[rows, 0],
        color="tab:blue",
        alpha=0.25,
        lw=0,
        label="prssm, 95 % band",
    )
    ax.plot(at, linear.mean[rows, 0], color="tab:orange", lw=1.2, label="linear model")
    ax.plot(at, ours.mean[rows, 0], color="tab:blue", lw=1.4, label="prssm, mean")
    ax.plot(at, ours.measured[rows, 0], color="black", lw=0.9, ls="--", label="measured")
    ax.axvspan(0, ours.warmup, color="0.9", label="rows that start the run")
    ax.set_xlabel("row")
    ax.set_ylabel("belt speed")
    ax.legend(loc="upper right", ncols=3, fontsize=8, frameon=False)
    ax.margins(x=0.0)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.3 * (high - low))
    figure.tight_layout()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out)


if __name__ == "__main__":
    main()
