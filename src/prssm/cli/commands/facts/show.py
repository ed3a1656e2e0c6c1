"""`prssm show`: a look at a file before anything is fitted."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.evaluation.tasks.settings import ColumnSettings
from prssm.foundation.errors import OptionError

if TYPE_CHECKING:
    from prssm.data.overview import Overview


def show(
    *data: Annotated[str, Parameter(help="File(s) that `prssm fit` reads.")],
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Show what is in a file: columns, ranges, time, gaps, a small picture, and advice.

    Nothing is fitted or written. With -u, -y and --time the same checks run as before a fit.
    """
    if not data:
        raise OptionError("no data: name a file, e.g. prssm show log.csv")
    settings = ColumnSettings(**columns.chosen())
    from prssm.data.io.columns import FileWords
    from prssm.data.overview import overview
    from prssm.evaluation.tasks.sources import choice_of

    for file in data:
        _tell(overview(file, choice_of(settings), FileWords(settings.decimal, settings.query)))


def _tell(seen: "Overview") -> None:
    from prssm.data.overview import sparkline
    from prssm.report.tables import Table, print_table

    rows = [
        [
            column.name,
            column.kind,
            column.unit,
            *column.limits,
            str(column.missing) if column.missing else "",
            "" if column.values is None else sparkline(column.values),
        ]
        for column in seen.columns
    ]
    header = ["column", "holds", "unit", "lowest", "highest", "missing", "from first to last row"]
    print_table(Table(f"{seen.where}: {seen.rows} rows", header, rows))
    if seen.dt is not None:
        told = f" (column {seen.time!r})" if seen.time else ""
        lasts = f"{seen.rows * seen.dt:.6g} s in all"
        print(f"sampling time: {seen.dt:.6g} s{told}, {lasts}")
    for line in seen.advice:
        print(f"advice: {line}")
