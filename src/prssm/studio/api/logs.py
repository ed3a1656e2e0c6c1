"""What the page asks about logs: which there are, their columns, pictures and advice."""

from typing import Any
from urllib.parse import unquote

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prssm.foundation.errors import DataError
from prssm.studio.answers import NotThere, answer, body_of
from prssm.studio.project.columns import Columns
from prssm.studio.project.selection import Selection
from prssm.studio.studio import Studio

MOST_PANELS = 24


def studio_of(request: Request) -> Studio:
    """The studio that answers."""
    return request.app.state.studio


async def add(request: Request) -> Response:
    """A file that the page sends as it is; its name comes in a header, percent-encoded."""
    studio = studio_of(request)
    name = unquote(request.headers.get("x-file-name", "")).strip() or "log"
    log = await studio.logs.add_upload(name[:200], request.stream(), studio.settings.upload)
    studio.tell("logs")
    return answer(log.to_dict())


def about(request: Request) -> Response:
    """The columns of a log, what was chosen for it, and how many rows there are."""
    studio = studio_of(request)
    log = studio.logs.one(request.path_params["log"])
    columns = studio.columns(log)
    return answer(
        {
            "id": log.id,
            "name": log.name,
            "choice": studio.selection(log).to_dict(),
            "rows": columns.rows,
            "time": columns.time,
            "columns": [_facts(columns, name) for name in columns.names],
        }
    )


def _facts(columns: Columns, name: str) -> dict[str, Any]:
    fact = columns.facts(name)
    low, high = fact.range or (None, None)
    return {
        "name": name,
        "kind": fact.kind,
        "unit": fact.unit,
        "low": low,
        "high": high,
        "missing": fact.missing,
    }


def picture(request: Request) -> Response:
    """The panels of some columns, which are asked for by their numbers."""
    from prssm.studio.figures.columns import columns_figure

    names, series = _series(request)
    return answer(columns_figure(names, series))


def rows(request: Request) -> Response:
    """The visible rows of some columns, thinned."""
    from prssm.studio.figures.windows import packed_window

    _, series = _series(request)
    begin, end = (_whole(request, word) for word in ("begin", "end"))
    return answer(packed_window(series, begin, end))


def _series(request: Request) -> tuple[list[str], dict[str, np.ndarray]]:
    """The asked-for columns: their names, and their numbers by key."""
    studio = studio_of(request)
    columns = studio.columns(studio.logs.one(request.path_params["log"]))
    asked = request.query_params.get("columns", "").split(",")
    names = []
    series = {}
    for word in asked[:MOST_PANELS]:
        if not word.isdecimal() or int(word) >= len(columns.names):
            raise NotThere(f"the log has no column number {word!r}")
        name = columns.names[int(word)]
        values = columns.values(name)
        if values is None:
            raise DataError(f"column {name!r} holds no numbers")
        names.append(name)
        series[f"c{word}"] = values
    return names, series


def _whole(request: Request, word: str) -> int:
    text = request.query_params.get(word, "")
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise DataError(f"{word}: expected a row number, got {text!r}") from None


async def choose(request: Request) -> Response:
    """Keep what was chosen for a log."""
    studio = studio_of(request)
    chosen = Selection.of(await body_of(request))
    studio.logs.choose(request.path_params["log"], chosen.to_dict())
    return answer(chosen.to_dict())


def forget(request: Request) -> Response:
    """Remove a log from the project."""
    studio = studio_of(request)
    studio.logs.forget(request.path_params["log"])
    studio.tell("logs")
    return answer({})


ROUTES = [
    Route("/api/logs", add, methods=["POST"]),
    Route("/api/logs/{log}", about, methods=["GET"]),
    Route("/api/logs/{log}", forget, methods=["DELETE"]),
    Route("/api/logs/{log}/choice", choose, methods=["PUT"]),
    Route("/api/logs/{log}/picture", picture, methods=["GET"]),
    Route("/api/logs/{log}/rows", rows, methods=["GET"]),
]
