"""How many restarts the preset `paper` needs: the error of the one with the best training ELBO.

    PRSSM_DATA=... python studies/paper_restarts.py --docs docs/studies/training.md
    python studies/paper_restarts.py --report-only

Each task of `studies/generalisation.py` is trained with 24 restarts, and every one of them predicts
what it has not seen. From their ELBOs and errors follows what the best of 4, 8, 16 of them would
err by, in the mean over all such choices. Test parts are not read, and recorded rows are not run
again.
"""

import argparse
import warnings
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from generalisation import FOURTEEN, TASKS
from linear_study import geometric_mean

from prssm import PRSSM, PrssmWarning
from prssm.evaluation.jobs.results import Results
from prssm.report.page_sections import with_section

TRAINED = 24
CHOSEN = (1, 4, 8, 16, TRAINED)
LOST = 3.0  # deviations of the output: a larger error says no more


def study(name: str) -> dict[str, Any]:
    """ELBO of each restart, the best first, and its error in units of the output's deviation."""
    train, unseen = TASKS[name]()
    model = PRSSM("paper", restarts=TRAINED).fit(train)
    trained = model.restarts_
    (level,) = trained.levels
    last = len(trained.stages) - 1
    ranked = trained.ranked(trained.groups[0], last)
    errors = []
    for restart in ranked:
        model.mixture_ = trained.mixture(last, np.array([restart]))
        with warnings.catch_warnings():  # each restart would say where it leaves its data
            warnings.simplefilter("ignore", PrssmWarning)
            errors.append(min(model.evaluate(unseen)["nrmse"], LOST))
    elbo = trained.stages[last].objective[ranked]
    return {"task": name, "level": level.name, "elbo": elbo.tolist(), "error": errors}


def chances(restarts: int, chosen: int) -> np.ndarray:
    """How likely each is the best of so many that are drawn without replacement; best first."""
    ways = [comb(restarts - 1 - rank, chosen - 1) for rank in range(restarts)]
    return np.array(ways) / comb(restarts, chosen)


def expected(errors: Sequence[float], chosen: int) -> float:
    """Geometric mean of the error of the best of so many, over all ways to draw them."""
    return float(np.exp(chances(len(errors), chosen) @ np.log(errors)))


def page(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each task, and one for the geometric means."""
    heads = ["any one", *(f"best of {count}" for count in CHOSEN[1:])]
    lines = ["| task | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    table = [best_of_some(row["error"]) for row in rows]
    for row, found in zip(rows, table, strict=True):
        lines.append(f"| {row['task']} | {_cells(found)} |")
    means = [geometric_mean(column) for column in np.array(table).T]
    return "\n".join([*lines, f"| geometric mean | {_cells(means)} |"])


def best_of_some(errors: Sequence[float]) -> list[float]:
    """The expected error for each number of restarts; those that diverged cannot be drawn."""
    return [expected(errors, min(count, len(errors))) for count in CHOSEN]


def _cells(errors: Sequence[float]) -> str:
    return " | ".join(f"{error:.3f}" for error in errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=FOURTEEN, default=FOURTEEN)
    parser.add_argument("--out", type=Path, default=Path("runs/paper-restarts"))
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="train nothing")
    options = parser.parse_args()
    results = Results(options.out, "rows.jsonl")
    for name in options.tasks if not options.report_only else ():
        row = results.once(study, name)
        print(name, [round(error, 3) for error in row["error"]], flush=True)
    text = page(list(results.records.values()))
    print(text)
    if options.docs:
        options.docs.write_text(with_section(options.docs.read_text(), "paper-restarts", text))


if __name__ == "__main__":
    main()
