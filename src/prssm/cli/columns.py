"""Which columns of a file are meant: words that most commands share."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Parameter


@dataclass(frozen=True, kw_only=True)
class ReadingWords:
    """The columns of a file, and what is done with its time stamps.

    A command takes it as a parameter that is named "*".
    """

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
    time: Annotated[
        str | None, Parameter(help="Column of time stamps: seconds, dates, clock times, ...")
    ] = None
    dt: Annotated[
        float | None, Parameter(help="Seconds between rows, where there is no time column.")
    ] = None

    gaps: Annotated[
        str | None,
        Parameter(
            help="Where rows are missing: error, split (experiments of the parts) or fill (rows "
            "with missing outputs).",
            show_default="error",
        ),
    ] = None
    sort: Annotated[
        bool | None,
        Parameter(negative="", help="Put the rows in order of time.", show_default=False),
    ] = None
    duplicates: Annotated[
        str | None,
        Parameter(
            help="Rows with the same time: error, or keep their mean or the first.",
            show_default="error",
        ),
    ] = None
    resample: Annotated[
        str | None,
        Parameter(
            help="Put the rows on this step, e.g. 0.5s or 20ms, or auto for the usual one; what is "
            "too fast for it is filtered out first."
        ),
    ] = None
    time_unit: Annotated[
        str | None,
        Parameter(
            help="What the time column counts, where it does not show: s, ms, us, ns, min, h, "
            "days, excel, matlab; of dates day-first or month-first."
        ),
    ] = None
    decimal: Annotated[
        str | None, Parameter(help="Decimal mark of a text file, where it does not show: , or .")
    ] = None
    query: Annotated[str | None, Parameter(help="Rows of a data base, in SQL.")] = None

    def chosen(self) -> dict[str, Any]:
        """What was said, as keywords of `ColumnSettings`."""
        values = {name: getattr(self, name) for name in self._names()}
        told = {name: value for name, value in values.items() if value is not None}
        return told | {name: tuple(told[name]) for name in ("inputs", "outputs") if name in told}

    @classmethod
    def _names(cls) -> list[str]:
        """Of these words alone: a command may add its own."""
        return [field.name for field in fields(ReadingWords)]
