"""What a search has found, as files: a page that stands alone, a picture, and a table of all
trials.
"""

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.search.search import Found
from prssm.foundation.atomic import replacing
from prssm.report.images import PNG_DPI, embed
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
    """All files into the output folder; `chosen` is what became of the best trial, if it was
    refitted.
    """
    figure = draw_search(found)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=PNG_DPI)
    contents = {
        PAGE: _page(found, chosen, command).encode(),
        PICTURE: picture.getvalue(),
        CSV: to_csv(tables.trials_table(found)).encode(),
    }
    for name, content in contents.items():
        with replacing(folder / name) as stream:
            stream.write(content)
    return [folder / name for name in contents]


def _page(found: Found, chosen: Mapping[str, Any] | None, command: str) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("prssm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    image = embed(
        draw_search(found),
        "held-out scores of all trials over time and over each option",
        "Top: each trial and the best so far; grey lines: simple models. Below: the trials over "
        "each option's "
        "values, with the median where there are few values.",
    )
    return environment.get_template("benchmark.html").render(
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
    days = sorted(record["finished"] or "" for record in records)
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
            f"{ends[OK]} finished, {ends['stopped']} stopped, {ends['failed']} failed, simple "
            "models included",
        ),
        ("Time in trials", f"{sum(record['seconds'] or 0.0 for record in records):.0f} s, summed"),
        ("Run", f"{days[0]} to {days[-1]}"),
        ("Machine", _distinct(record["machine"] for record in records)),
        ("Device", _distinct(record["device"] for record in records)),
        ("Commit", _distinct(record["commit"] or "not from a source tree" for record in records)),
        (
            "Versions",
            _distinct(
                ", ".join(f"{name} {number}" for name, number in record["versions"].items())
                for record in records
            ),
        ),
    ]


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(values)))
