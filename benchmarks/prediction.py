"""One and ten steps ahead on the paper's five recordings, beside linear predictors: least-squares
ARX, and the Kalman predictor of the linear state-space model.

    python benchmarks/prediction.py --models runs/models     # fits what is not there, and keeps it
    python benchmarks/prediction.py --part training          # for decisions: no test row is read

A folder of models holds <set>.prssm and <set>-linear.prssm, as `prssm fit <set> --out ...` and
`prssm fit <set> --method linear --out ...` make them. Errors are root mean squares in the data's
own units over all rows from the 32nd on: the recognition model reads sixteen, and the widest ARX
has ten lags.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arx import ARX

import prssm
from prssm.evaluation.benchmark.plan import PAPER_SETS
from prssm.models.estimator import Estimator
from prssm.models.registry import method
from prssm.prediction.prediction import Prediction

HORIZONS = (1, 10)
METHODS = ("linear", "prssm")
SKIPPED = 32


def model_of(name: str, kind: str, folder: Path | None) -> Estimator:
    """The fitted model, from its file where there is one."""
    path = None if folder is None else folder / _file(name, kind)
    if path is not None and path.is_file():
        return prssm.load(path)
    train, _ = prssm.datasets.load(name)
    model = method(kind)().fit(train)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        model.save(path)
    return model


def _file(name: str, kind: str) -> str:
    return f"{name}.prssm" if kind == "prssm" else f"{name}-{kind}.prssm"


def arx_error(name: str, record: prssm.Record, horizon: int) -> float:
    """Of the ARX predictor, which has no band."""
    found = ARX(prssm.datasets.load(name)[0]).predict(record, horizon)
    return float(np.sqrt(np.mean((record.y - found)[SKIPPED:] ** 2)))


def scores(run: Prediction) -> tuple[float, float]:
    """Error, and the share inside two deviations."""
    assert run.measured is not None
    error = (run.measured - run.mean)[SKIPPED:]
    inside = np.abs(error) < 2.0 * run.std[SKIPPED:]
    known = ~np.isnan(error)
    return float(np.sqrt(np.mean(error[known] ** 2))), float(inside[known].mean())


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, help="folder of fitted models")
    parser.add_argument("--sets", nargs="+", default=list(PAPER_SETS))
    parser.add_argument("--part", choices=("training", "test"), default="test")
    given = parser.parse_args(words)
    print(f"Rows ahead, RMSE on the {given.part} part (share inside two deviations)\n")
    kinds = ("ARX", *METHODS)
    print("| set | " + " | ".join(f"{kind}, {k}" for k in HORIZONS for kind in kinds) + " |")
    print("|---|" + "---|" * (len(HORIZONS) * len(kinds)))
    better = dict.fromkeys(HORIZONS, 0)
    for name in given.sets:
        record = prssm.datasets.load(name)[given.part == "test"]
        models = [model_of(name, kind, given.models) for kind in METHODS]
        cells = []
        for horizon in HORIZONS:
            found = [scores(model.predict(record, horizon=horizon)) for model in models]
            cells.append(f"{arx_error(name, record, horizon):.4g}")
            cells += [f"{rmse:.4g} ({inside:.2f})" for rmse, inside in found]
            better[horizon] += found[1][0] < found[0][0]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for horizon, count in better.items():
        told = f"{horizon} ahead: prssm errs less than linear on {count} of {len(given.sets)}"
        print(f"\n{told}")


if __name__ == "__main__":
    main()
