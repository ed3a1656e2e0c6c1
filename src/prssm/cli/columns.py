"""Which columns of a file are meant: words that most commands share."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from prssm.cli.merging import split_names


@dataclass(frozen=True, kw_only=True)
class ColumnWords:
    """The columns of a file. A command takes it as a parameter that is named "*"."""

    inputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--inputs", "-u"],
            negative="",
            help="Input columns: a,b or repeated. Default: u, or u1, u2, ...; with a saved model, "
            "its own.",
        ),
    ] = None
    outputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--outputs", "-y"],
            negative="",
            help="Output columns: a,b or repeated. Default: y, or y1, y2, ...; with a saved model, "
            "its own.",
        ),
    ] = None
    time: Annotated[str | None, Parameter(help="Column of time stamps, checked for gaps.")] = None
    dt: Annotated[
        float | None, Parameter(help="Seconds between rows, where there is no time column.")
    ] = None

    def chosen(self) -> dict[str, Any]:
        """The fields of `ColumnSettings`, as keywords."""
        return {
            "inputs": split_names(self.inputs),
            "outputs": split_names(self.outputs),
            "time": self.time,
            "dt": self.dt,
        }
