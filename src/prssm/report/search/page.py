"""What a search has found, as files: a page, a picture, and a table of all trials."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.search.search import Found
from prssm.foundation.atomic import replacing
from prssm.foundation.show.pictures import png
from prssm.report.html import render
from prssm.report.images import embed
from prssm.report.origin import origin
from prssm.report.search import tables
from prssm.report.search.figures import draw_search
from prssm.report.tables import Table, to_csv

TITLE = "What the search has found"
PAGE = "report.html"
PICTURE = "search.png"
CSV = "trials.csv"


def write_pages(
    folder: Path, found: Found, chosen: Mapping[str, Any] | None, command: str
) -> list[Path]:
    """Writes all files into the output folder.

    `chosen` is what became of the best trial, if it was refitted.
    """
    figure = draw_search(found)
    contents = {
        PAGE: _page(found, chosen, command, figure=figure).encode(),
        PICTURE: png(figure),
        CSV: to_csv(tables.trials_table(found)).encode(),
    }
    for name, content in contents.items():
        with replacing(folder / name) as stream:
            stream.write(content)
    return [folder / name for name in contents]


def _page(found: Found, chosen: Mapping[str, Any] | None, command: str, *, figure: Figure) -> str:
    image = embed(
        figure,
        "held-out scores of all trials over time and over each option",
        "Top: each trial and the best so far; grey lines: plain models. Below: the trials over "
        "each option's "
        "values, with the median where there are few values.",
    )
    return render(
        "benchmark.html",
        title=TITLE,
        facts=_facts(found, chosen, command),
        note=tables.NOTE,
        tables=_tables(found, chosen),
        figures=[("trials", image)],
    )


def _tables(found: Found, chosen: Mapping[str, Any] | None) -> list[Table]:
    shown = [tables.chosen_table(chosen)] if chosen is not None and chosen["scores"] else []
    unfinished = tables.unfinished_table(found)
    return [*shown, tables.found_table(found), *([unfinished] if unfinished else [])]


def _facts(found: Found, chosen: Mapping[str, Any] | None, command: str) -> list[tuple[str, str]]:
    records = found.records
    best = found.best
    ends = {
        outcome: sum(record["outcome"] == outcome for record in records)
        for outcome in (OK, "stopped", "failed")
    }
    rows = [
        ("Command", command),
        ("Chosen", f"{best['label']} (held-out RMSE {best['metrics']['rmse']:.4g})"),
    ]
    rows += [("Note", tables.warning(found))] if tables.warning(found) else []
    if chosen is not None and chosen["earlier"]:
        looks = "; ".join(f"{look['label']}: {look['rmse']:.4g}" for look in chosen["earlier"])
        rows.append(
            (
                "Test data",
                f"were scored before, for choices of earlier stages of this search (RMSE {looks}), "
                f"so they are not quite fresh",
            )
        )
    return [
        *rows,
        ("Held out", f"{found.validation} of the training data"),
        (
            "Trials",
            f"{ends[OK]} finished, {ends['stopped']} stopped, {ends['failed']} failed, plain "
            "models included",
        ),
        ("Time in trials", f"{sum(record['seconds'] or 0.0 for record in records):.0f} s, summed"),
        *origin(records),
    ]
