"""How far a network's band should go from its folds' errors to its own, over ten new runs.

    python studies/network_bands.py --docs docs/explanation/calibration.md
    python studies/network_bands.py --report-only

Random systems whose motion nobody disturbs, each fitted with levels that are hardly trained, so
that networks are often kept. A band's factor goes some share of the way, in the logarithm, from
the one that the folds' networks ask for on held-out stretches to the one that the final networks
ask for there. Systems that keep something else have no line. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from band_table import scores, table
from fresh_systems import numbered, with_new_runs
from linear_study import run_study

from prssm import PRSSM
from prssm.data.record import Record
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.levels import NETWORK

FRESH = 200  # number of the first random system that no rule was made on
SHARES = (0.0, 0.3, 0.5, 0.8, 1.0)
BANDS = {f"{share:.1f} of the way": share for share in SHARES}
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
    for band, share in BANDS.items():
        model.calibration_ = held_out.toward(seen, share).at_least(own)
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
        told=lambda row: f"{row['number']}: {row['level']} {row.get('0.3 of the way', '')}",
        systems=36,
    )


if __name__ == "__main__":
    main()
