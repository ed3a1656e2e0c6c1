"""`prssm show`: a look at a file before anything is fitted."""

from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.evaluation.tasks.settings import ColumnSettings


def show(
    data: Annotated[str, Parameter(help="A file that `prssm fit` reads.")],
    *,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Show what is in a file: columns, ranges, time, gaps, a small picture, and advice.

    Nothing is fitted or written. With -u, -y and --time the same checks run as before a fit.
    """
    settings = ColumnSettings(**columns.chosen())
    from prssm.data.io.columns import FileWords
    from prssm.data.overview import overview, sparkline
    from prssm.evaluation.tasks.sources import choice_of
    from prssm.report.tables import Table, print_table

    seen = overview(data, choice_of(settings), FileWords(settings.decimal, settings.query))
    rows = []
    for column in seen.columns:
        limits = column.range
        rows.append(
            [
                column.name,
                column.kind,
                column.unit,
                "" if limits is None else f"{limits[0]:.6g}",
                "" if limits is None else f"{limits[1]:.6g}",
                str(column.missing) if column.missing else "",
                "" if column.values is None else sparkline(column.values),
            ]
        )
    header = ["column", "holds", "unit", "lowest", "highest", "missing", "from first to last row"]
    print_table(Table(f"{seen.where}: {seen.rows} rows", header, rows))
    if seen.dt is not None:
        told = f" (column {seen.time!r})" if seen.time else ""
        lasts = f"{seen.rows * seen.dt:.6g} s in all"
        print(f"sampling time: {seen.dt:.6g} s{told}, {lasts}")
    for line in seen.advice:
        print(f"advice: {line}")
