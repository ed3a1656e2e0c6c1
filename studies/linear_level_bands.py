"""How wide the band of the level `linear` should be, over ten new runs of random systems.

    python studies/linear_level_bands.py --docs docs/explanation/calibration.md
    python studies/linear_level_bands.py --report-only

Systems that are linear, or whose motion is disturbed so much that fits often keep the linear model.
`kept` is the band that ships. The others are wider by half of, or all of, what Student's interval
asks for with as many degrees of freedom as the held-out errors have independent values. Beside them
is the band of `LinearSSM`. Recorded rows are not run again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from band_table import scores, table
from fresh_systems import numbered, with_new_runs
from linear_study import run_study

from prssm import PRSSM, LinearSSM
from prssm.data.record import Record
from prssm.models.prssm.band.calibration import Calibration
from prssm.prediction.correlation import independent_values
from prssm.prediction.gaussian import student_factor

FRESH = 141  # number of the first random system that no other rule was made on
DISTURBED = 0.1  # of the output's deviation, from which on a system counts as disturbed
WIDER = {"kept": 0.0, "half of Student's": 0.5, "Student's": 1.0}  # powers of Student's factor
BANDS = (*WIDER, "LinearSSM")


def _is_disturbed(facts: Mapping[str, Any]) -> bool:
    return facts["disturbance"] > DISTURBED


def _is_linear(facts: Mapping[str, Any]) -> bool:
    return facts["kind"] == "linear" and not _is_disturbed(facts)


WANTED = {"linear": _is_linear, "disturbed": _is_disturbed}


def _system(kind: str, index: int) -> int:
    """The number of the random system that is so many of its kind after the first."""
    return numbered(FRESH, WANTED[kind], index)


def data(kind: str, index: int) -> tuple[Record, list[Record]]:
    """What is trained on, and new runs."""
    return with_new_runs(_system(kind, index))


def study(kind: str, index: int) -> dict[str, Any]:
    """Shares inside two deviations, and log-likelihoods, of all bands."""
    train, unseen = data(kind, index)
    model = PRSSM(complexity="linear", neurons=0, grow=False).fit(train)
    held_out = model.restarts_.candidates()[-1].held_out.errors
    student = student_factor(independent_values(held_out))
    kept = model.calibration_.factor
    row: dict[str, Any] = {"kind": kind, "number": _system(kind, index), "rows": len(train)}
    for name, power in WIDER.items():
        model.calibration_ = Calibration(kept * student**power)
        row[name] = scores(model, unseen)
    row["LinearSSM"] = scores(LinearSSM().fit(train), unseen)
    return row


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each band."""
    return table(rows, BANDS)


def main() -> None:
    run_study(
        __doc__,
        "linear_level_bands",
        {"linear": data, "disturbed": data},
        study=study,
        page=page,
        told=lambda row: f"{row['number']}: {row['kept']} {row['LinearSSM']}",
        systems=16,
    )


if __name__ == "__main__":
    main()
