"""How many new rows the band of a linear model holds, with and without its widening.

    python studies/linear_bands.py --first 100 --docs docs/studies/subspace.md
    python studies/linear_bands.py --report-only

See `LinearSSM._error_std`. Each system of `disturbed_systems.KINDS` is fitted once. `plain` is the
band with the deviation of held-out errors alone. Log-likelihoods are those of a row, in units of
the training outputs' deviations. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from disturbed_systems import KINDS
from linear_study import run_study

from prssm.data.record import Record
from prssm.linear.held_out import HeldOutErrors
from prssm.models.linear_ssm import LinearSSM

FEW = 0.8  # share of new rows, below which a band is far too narrow


class Watched(LinearSSM):
    """Keeps the deviation of held-out errors as it is."""

    def _error_std(self, records: Sequence[Record], held_out: HeldOutErrors | None) -> np.ndarray:
        std = super()._error_std(records, held_out)
        plain = self.start_.error_std
        self.plain_std = plain if held_out is None else np.maximum(held_out.std, plain)
        return std


def study(kind: str, number: int) -> dict[str, Any]:
    """Coverage and log-likelihood of both bands over the unseen rows, and the widening."""
    train, unseen = KINDS[kind](number)
    model = Watched().fit(train)
    wider = float(np.mean(model.start_.error_std / model.plain_std))
    row: dict[str, Any] = {"kind": kind, "number": number, "wider": wider}
    row["band"] = _scores(model, unseen)
    model.start_ = replace(model.start_, error_std=model.plain_std)
    row["plain"] = _scores(model, unseen)
    return row


def _scores(model: LinearSSM, unseen: Sequence[Record]) -> dict[str, float]:
    found = model.evaluate(list(unseen))
    return {"held": found["coverage_95"], "likelihood": found["log_likelihood_scaled"]}


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each kind: both bands, and how much wider the one is."""
    rows = list(rows)
    lines = [
        "| kind | systems | in 95 % band | below 80 % | log-lik. | without: in 95 % band "
        "| below 80 % | log-lik. | wider |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    for title, these in [("all", set(kinds)), *((kind, {kind}) for kind in kinds)]:
        some = [row for row in rows if row["kind"] in these]
        wider = float(np.median([row["wider"] for row in some]))
        cells = " | ".join(_cells([row[which] for row in some]) for which in ("band", "plain"))
        lines.append(f"| {title} | {len(some)} | {cells} | {wider:.2f} |")
    return "\n".join(lines)


def _cells(bands: list[Mapping[str, float]]) -> str:
    held = np.array([one["held"] for one in bands])
    likelihood = np.mean([one["likelihood"] for one in bands])
    return f"{held.mean():.0%} | {(held < FEW).sum()} | {likelihood:.2f}"


def main() -> None:
    run_study(
        __doc__,
        "linear_bands",
        KINDS,
        study=study,
        page=page,
        told=lambda row: f"{row['plain']} {row['band']} {row['wider']:.2f}",
    )


if __name__ == "__main__":
    main()
