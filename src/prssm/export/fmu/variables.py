"""The variables of an FMU, in the order of their value references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prssm.export.description import Column, Description

# What XML 1.0 cannot hold, and white space that an attribute would lose.
_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SECONDS = "s"
WAYS_TO_START = "0: at rest under the inputs; 1: nothing is known"
FROM_SAMPLES = "; 2: from the first samples, at the first of them"


@dataclass(frozen=True)
class Variable:
    """One variable as modelDescription.xml tells it; `index` counts from 1."""

    name: str
    says: str
    causality: str
    variability: str
    reference: int
    start: str | None = None
    initial: str | None = None
    kind: str = "real"
    largest: int = 0  # of an integer
    unit: str = ""

    @property
    def index(self) -> int:
        return self.reference + 1


def variables(description: Description, band: bool) -> list[Variable]:
    """Time, inputs, outputs, their deviations, how to start, and the first samples."""
    found: list[Variable] = []

    def add(name: str, says: str, causality: str, variability: str, **more: Any) -> None:
        found.append(Variable(name, says, causality, variability, len(found), **more))

    add("time", "Time in seconds", "independent", "continuous", unit=SECONDS)
    for column in description.inputs:
        more = {"start": repr(column.mean), "unit": _unit(column)}
        add(column.identifier, _says(column), "input", "continuous", **more)
    for column in description.outputs:
        more = {"initial": "calculated", "unit": _unit(column)}
        add(column.identifier, _says(column), "output", "continuous", **more)
    for column in description.outputs if band else ():
        says = f"Standard deviation of {printable(column.name)}"
        more = {"initial": "calculated", "unit": _unit(column)}
        add(f"{column.identifier}_std", says, "output", "continuous", **more)
    window = description.window
    add(
        "start",
        f"How a run begins. {WAYS_TO_START}{FROM_SAMPLES if window else ''}",
        "parameter",
        "fixed",
        start="0",
        initial="exact",
        kind="integer",
        largest=2 if window else 1,
    )
    for columns in (description.inputs, description.outputs):
        for row in range(window):
            for column in columns:
                add(
                    f"first.{column.identifier}[{row + 1}]",
                    f"Sample {row + 1} of {printable(column.name)}, for start = 2",
                    "parameter",
                    "fixed",
                    start=repr(column.mean),
                    initial="exact",
                    unit=_unit(column),
                )
    return found


def units(found: Sequence[Variable]) -> list[str]:
    """The units of the variables, each once."""
    return [unit for unit in dict.fromkeys(one.unit for one in found) if unit]


def printable(name: str) -> str:
    """A name that XML can hold in an attribute, quotes and brackets still to be escaped."""
    return _UNPRINTABLE.sub(" ", name)


def _unit(column: Column) -> str:
    """As the training data had it; what it is in terms of others nobody has said."""
    return printable(column.unit).strip()


def _says(column: Column) -> str:
    return f"{printable(column.name)} (usually {column.mean:.4g} +- {column.std:.4g})"
