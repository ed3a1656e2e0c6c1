"""Logs of few rows: what they lose where too little is held out, and how their bands do.

    python studies/few_rows.py --docs docs/explanation/calibration.md
    python studies/few_rows.py --report-only

The first rows of random systems, fitted by the default preset and run ten times anew. The rule
before recognised a first state from 16 rows of any log, so that of fewer than 64 rows nothing could
be held out. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np
from band_table import scores, table
from fresh_systems import with_new_runs
from linear_study import geometric_mean, run_study

from prssm import PRSSM, LinearSSM
from prssm.models.prssm import config
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.fitting import held_out

FIRST = 900  # number of the first random system that no rule was made on
ROWS = {"40 rows": 40, "70 rows": 70, "120 rows": 120}
_BEFORE = "before"
_NOW = "`prssm`"
_NARROWER = "as held-out errors ask"  # not made wider for being few
_LINEAR = "`linear`"
MODELS = [_BEFORE, _NARROWER, _NOW, _LINEAR]


def study(kind: str, index: int) -> dict[str, Any]:
    """Scores of the preset, of the preset as it was before, and of the linear model."""
    whole, unseen = with_new_runs(FIRST + index)
    train = whole[: ROWS[kind]]
    with (
        patch.object(config, "most_start_rows", lambda records: config._HORIZON),
        patch.object(held_out, "_LEAST_ROWS", 16),
    ):
        before = PRSSM().fit(train)
    now = PRSSM().fit(train)
    row = {
        "number": FIRST + index,
        "kind": kind,
        _BEFORE: scores(before, unseen),
        _NOW: scores(now, unseen),
        _LINEAR: scores(LinearSSM().fit(train), unseen),
    }
    now.calibration_ = Calibration(now.calibration_.factor / _wider(now))
    return row | {_NARROWER: scores(now, unseen)}


def _wider(model: PRSSM) -> np.ndarray:
    """By how much the band of each output is wider, since few of its values were held out."""
    errors = model.restarts_.candidates()[0].held_out.errors
    return Calibration.none(len(model.output_names_)).for_few(errors).factor


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """For each number of rows a line for each model; errors are in units of the linear model's."""
    rows = list(rows)
    lines: list[str] = []
    for kind, count in ROWS.items():
        some = [row for row in rows if row["kind"] == kind]
        if not some:
            continue
        head, rule, *each = table(some, MODELS).splitlines()
        lines = lines or [f"| rows {head} error |", f"|---{rule}---|"]
        errors = [_beside_linear(some, name) for name in MODELS]
        lines += [
            f"| {count} {line} {error:.2f} |" for line, error in zip(each, errors, strict=True)
        ]
    return "\n".join(lines)


def _beside_linear(rows: list[Mapping[str, Any]], name: str) -> float:
    return geometric_mean(np.array([row[name]["error"] / row[_LINEAR]["error"] for row in rows]))


def _told(row: Mapping[str, Any]) -> str:
    cells = [f"{name} {row[name]['held']:.2f}" for name in MODELS]
    return f"{row['number']}: inside two deviations {', '.join(cells)}"


def main() -> None:
    run_study(
        __doc__,
        "few_rows",
        ROWS,
        study=study,
        page=page,
        told=_told,
        systems=12,
    )


if __name__ == "__main__":
    main()
