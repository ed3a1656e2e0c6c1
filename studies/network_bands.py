"""How far a network's band should trust the folds' errors, and their disagreement.

    python studies/network_bands.py --docs docs/explanation/calibration.md
    python studies/network_bands.py --report-only

Random systems whose motion nobody disturbs, each fitted with levels that are hardly trained, so
that networks are often kept, and run ten times anew. A band's factor goes some share of the way, in
the logarithm, from the one that the folds' networks ask for on held-out stretches to the one that
the final networks ask for there. Doubt is how much of the disagreement between the folds' networks
is added. Systems that keep something else have no line. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from unittest.mock import patch

from band_table import scores, table
from fresh_systems import numbered, with_new_runs
from linear_study import run_study

from prssm import PRSSM
from prssm.data.record import Record
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.levels import NETWORK, Network

FRESH = 200  # number of the first random system that no rule was made on


class Trust(NamedTuple):
    """How a band is made."""

    share: float
    doubt: float

    def __str__(self) -> str:
        return f"{self.share:.1f} of the way, doubt {self.doubt:.1f}"


SHIPPED = Trust(NETWORK.seen_share, NETWORK.doubt)
SHARES = [Trust(share, SHIPPED.doubt) for share in (0.0, 0.3, 0.5, 0.8, 1.0)]
DOUBTS = [Trust(SHIPPED.share, doubt) for doubt in (0.0, 0.5, 1.0)]
BANDS = {str(trust): trust for trust in (*SHARES, *DOUBTS)}
# Levels that are hardly trained leave the field to networks, and take seconds.
QUICK = {"restarts": 1, "fold_restarts": 1, "iterations": 20}


def _is_undisturbed(facts: Mapping[str, Any]) -> bool:
    return facts["disturbance"] == 0.0


def _system(index: int) -> int:
    """The number of the random system that is so many after the first."""
    return numbered(FRESH, _is_undisturbed, index)


def data(kind: str, index: int) -> tuple[Record, list[Record]]:
    """What is trained on, and new runs."""
    return with_new_runs(_system(index))


def study(kind: str, index: int) -> dict[str, Any]:
    """Shares inside two deviations, and log-likelihoods, of all bands."""
    train, unseen = data(kind, index)
    model = PRSSM(**QUICK).fit(train)
    row: dict[str, Any] = {"number": _system(index), "rows": len(train), "level": model.level_}
    if model.level_ != NETWORK.name:
        return row
    trained = model.restarts_
    held_out = Calibration.fit(*trained.candidates()[-1].held_out)
    seen = Calibration.fit(*trained.seen(model.mixture_))
    own = Calibration.fit(*trained.over_records(model.mixture_))
    for band, trust in BANDS.items():
        model.calibration_ = held_out.toward(seen, trust.share).at_least(own)
        with patch.object(Network, "doubt", trust.doubt):
            row[band] = scores(model, unseen)
    return row


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each band, over the systems that keep networks."""
    return table([row for row in rows if row["level"] == NETWORK.name], list(BANDS))


def main() -> None:
    run_study(
        __doc__,
        "network_bands",
        {"undisturbed": data},
        study=study,
        page=page,
        told=lambda row: f"{row['number']}: {row['level']} {row.get(str(SHIPPED), '')}",
        systems=36,
    )


if __name__ == "__main__":
    main()
