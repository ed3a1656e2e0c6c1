"""How wide the band of the level `linear` should be, over ten new runs of random systems.

    python studies/linear_level_bands.py --first 40 --systems 10
    python studies/linear_level_bands.py --report-only

Systems that are linear, or whose motion is disturbed so much that fits often keep the linear model.
`kept` is the band that ships: where errors on held-out stretches are white, it is as wide as their
mean square says, and no wider outside of what was seen. `as other levels` has the factor that all
other levels have, and is wider outside. `Student's` is wider than that by what Student's interval
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
from prssm.models.prssm.selection import usual_calibration
from prssm.prediction.correlation import independent_values
from prssm.prediction.gaussian import student_factor

FRESH = 141  # number of the first random system that no other rule was made on
DISTURBED = 0.1  # of the output's deviation, from which on a system counts as disturbed
WIDER = {"as other levels": 0.0, "Student's": 1.0}  # powers of Student's factor
BANDS = ("kept", *WIDER, "LinearSSM")


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
    row: dict[str, Any] = {"kind": kind, "number": _system(kind, index), "rows": len(train)}
    row |= {"white": model.straight_, "kept": scores(model, unseen)}
    candidates = model.restarts_.candidates()
    student = student_factor(independent_values(candidates[-1].held_out.errors))
    usual = usual_calibration(model.restarts_, candidates, model.mixture_).factor
    model.straight_ = False
    for name, power in WIDER.items():
        model.calibration_ = Calibration(usual * student**power)
        row[name] = scores(model, unseen)
    row["LinearSSM"] = scores(LinearSSM().fit(train), unseen)
    return row


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each band, first of all systems, then of those with white errors."""
    every = list(rows)
    white = [row for row in every if row["white"]]
    parts = {"all systems": every, "white errors": white}
    return "\n\n".join(_part(title, part) for title, part in parts.items() if part)


def _part(title: str, rows: list[Mapping[str, Any]]) -> str:
    """Some systems: the table, and how many of them are likelier than by `LinearSSM`."""
    likelier = {
        band: sum(row[band]["likelihood"] > row["LinearSSM"]["likelihood"] for row in rows)
        for band in BANDS[:-1]
    }
    told = ", ".join(f"{band} {count}" for band, count in likelier.items())
    heading = f"{title.capitalize()}. Likelier than by `LinearSSM`, of {len(rows)}: {told}."
    return f"{heading}\n\n{table(rows, BANDS)}"


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
