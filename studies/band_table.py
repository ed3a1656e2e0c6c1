"""Bands over new runs of many systems: scores of one, and a table of several beside each other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.models.estimator import Estimator

GOOD = (0.85, 0.99)  # shares inside two deviations


def scores(model: Estimator, unseen: list[Record]) -> dict[str, float]:
    """The share inside two deviations, the log-likelihood, and the error beside the output's."""
    found = model.evaluate(unseen)
    return {
        "held": found["coverage_2sigma"],
        "likelihood": found["log_likelihood_scaled"],
        "error": found["nrmse"],
    }


def table(rows: Iterable[Mapping[str, Any]], bands: Sequence[str]) -> str:
    """A line for each band: shares and means over all systems, whose rows have its `scores`."""
    rows = list(rows)
    lines = [
        "| band | systems | inside 0.85-0.99 | narrower | wider | mean share | log-likelihood |",
        "|---|---|---|---|---|---|---|",
    ]
    for band in bands:
        held = np.array([row[band]["held"] for row in rows])
        likelihood = np.mean([row[band]["likelihood"] for row in rows])
        shares = [
            np.mean((held >= GOOD[0]) & (held <= GOOD[1])),
            np.mean(held < GOOD[0]),
            np.mean(held > GOOD[1]),
        ]
        cells = " | ".join(f"{share:.0%}" for share in shares)
        lines.append(f"| {band} | {len(rows)} | {cells} | {held.mean():.3f} | {likelihood:.3f} |")
    return "\n".join(lines)
