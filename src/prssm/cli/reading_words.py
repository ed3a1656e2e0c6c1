"""The words with which every command is told how to read a file."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Parameter

# words of `ColumnSettings` that are said as they are
PLAIN = ("time", "dt", "gaps", "sort", "duplicates", "resample", "time_unit", "decimal", "query")


@dataclass(frozen=True, kw_only=True)
class ReadingWords:
    """Which columns of a file are meant, and what is done with its time stamps."""

    inputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--inputs", "-u"],
            negative="",
            help="Input columns: a,b or repeated. Default: the model's, or u, u1, u2, ...",
        ),
    ] = None
    outputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--outputs", "-y"],
            negative="",
            help="Output columns: a,b or repeated. Default: the model's, or y, y1, y2, ...",
        ),
    ] = None
    time: Annotated[
        str | None,
        Parameter(help="Column of time stamps: seconds, dates, clock times, Unix time, ..."),
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


def column_words(words: Any) -> dict[str, Any]:
    """What was said of these, as keywords of `ColumnSettings`."""
    said = {name: getattr(words, name) for name in PLAIN}
    said = {name: value for name, value in said.items() if value is not None}
    for name in ("inputs", "outputs"):
        listed = getattr(words, name)
        if listed is not None:
            said[name] = tuple(listed)
    return said


READING_WORDS = tuple(field.name for field in fields(ReadingWords))
