"""`prssm report` and `prssm compare`: saved models on a record, as a page and as a table."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.outputs import REPORT, SCORES, checked_name
from prssm.evaluation.tasks.settings import ColumnSettings, ComparisonSettings
from prssm.foundation.plain_json import write_json

_STATIC = "Pictures alone, which no reader can zoom in; the page is smaller."
_DATA = "A file with inputs and outputs, or the name of a data set (its test part)."


def report(
    model: Annotated[Path, Parameter(help="A model file.")],
    data: Annotated[str, Parameter(help=_DATA)],
    *,
    out: Annotated[Path, Parameter(help="Where the page goes.")] = Path("report.html"),
    static: Annotated[bool, Parameter(negative="", help=_STATIC)] = False,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Write a report about a saved model on a recording that it has not seen, one HTML page."""
    checked_name(out, REPORT, "--out")
    settings = ColumnSettings(**columns.chosen())
    from prssm.evaluation.tasks.saved_model import run_saved
    from prssm.report.fit.page import write_report

    found, run = run_saved(model, data, settings)
    title = f"{model.stem} on {Path(data).name}"
    write_report(out, found, [run], title=title, data=data, held_out=True, static=static)
    print(f"report: {out}")


def compare(
    *models: Annotated[Path, Parameter(help="Model files, of any methods.")],
    on: Annotated[str, Parameter(help=_DATA)],
    out: Annotated[Path | None, Parameter(help="Also write the scores as JSON.")] = None,
    report: Annotated[
        Path | None,
        Parameter(help="Also write a page about the first model with the others beside it."),
    ] = None,
    static: Annotated[bool, Parameter(negative="", help=_STATIC)] = False,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Compare saved models by their free runs over the same recording."""
    if out is not None:
        checked_name(out, SCORES, "--out")
    if report is not None:
        checked_name(report, REPORT, "--report")
    settings = ComparisonSettings(models=models, data=on, **columns.chosen())
    from prssm.evaluation.tasks.saved_model import compare_saved
    from prssm.report.tables import outputs_table, print_table, score_table

    found = compare_saved(settings)
    print_table(score_table(found.rows, title=f"free run over {on}"))
    for row, run in zip(found.rows, found.runs, strict=True):
        if len(run.each) > 1:
            print_table(outputs_table(run, title=f"{row.label}: each output alone"))
    if out is not None:
        scores = {
            str(path): {"metrics": run.scores, "metrics_of_each_output": run.each}
            for path, run in zip(models, found.runs, strict=True)
        }
        write_json(out, {"data": on, "models": scores})
        print(f"scores: {out}")
    if report is not None:
        from prssm.report.fit.page import write_report

        write_report(
            report,
            found.models[0],
            found.runs[:1],
            found.rows[1:],
            title=f"{', '.join(row.label for row in found.rows)} on {Path(on).name}",
            data=on,
            held_out=True,
            beside="Free simulation over the same rows by each model.",
            own=found.rows[0].label,
            static=static,
        )
        print(f"report: {report}")
