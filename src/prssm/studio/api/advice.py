"""What the page asks before a fit: what is odd in the data, and what preprocessing would do."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prssm.data.advice.advise import notes_about
from prssm.data.preprocessing.preview import preview
from prssm.data.preprocessing.words import STEPS
from prssm.data.record import Record
from prssm.evaluation.tasks.settings import DataSettings
from prssm.evaluation.tasks.sources import load_data
from prssm.foundation.errors import PrssmError
from prssm.studio.answers import answer, body_of
from prssm.studio.api.logs import studio_of
from prssm.studio.project.logs import Log
from prssm.studio.project.selection import Selection
from prssm.studio.studio import Studio

_CHOOSE = "Choose at least one output, and the inputs that move it."


def steps(request: Request) -> Response:
    """The steps of preprocessing: their word, what they do, how they are written."""
    known = [{"word": kind.word, "says": kind.says, "form": kind.form} for kind in STEPS.values()]
    # rows are chosen on the picture
    return answer({"steps": [step for step in known if step["word"] not in ("cut", "split")]})


def advice(request: Request) -> Response:
    """What is odd about the chosen rows and columns; a step that helps is named."""
    studio = studio_of(request)
    log = studio.logs.one(request.path_params["log"])
    selection = studio.selection(log)
    if not selection.outputs:
        return answer({"lines": [_line("", _CHOOSE)]})
    try:
        train, test = _rows(studio, log, selection)
    except PrssmError as error:
        return answer({"lines": [_line("bad", _named(studio, log, str(error)))]})
    found = notes_about(train, test)
    return answer({"lines": [_line("warning", str(note), note.step) for note in found]})


async def look(request: Request) -> Response:
    """The chosen columns before and after some steps."""
    studio = studio_of(request)
    log = studio.logs.one(request.path_params["log"])
    selection = Selection.of({**studio.selection(log).to_dict(), **await body_of(request)})
    return answer(await run_in_threadpool(_look, studio, log, selection))


def _look(studio: Studio, log: Log, selection: Selection) -> dict[str, Any]:
    from prssm.studio.figures.before_after import before_after
    from prssm.studio.figures.items import item

    selection.check(studio.columns(log))
    train, _ = _rows(studio, log, selection)
    looks = preview(train, selection.preprocess)
    return {"notes": list(looks[0].notes), "figure": item(before_after(looks[0]))}


def _rows(studio: Studio, log: Log, selection: Selection) -> tuple[list[Record], list[Record]]:
    """What trains and what is scored, as it was measured."""
    other = selection.test_log
    settings = DataSettings(
        data=(str(studio.logs.path(log)),),
        test=str(studio.logs.path(studio.logs.one(other))) if other else None,
        **selection.parts(),
        **selection.reading(),
    )
    loaded = load_data(settings)
    return loaded.train, loaded.test


def _line(kind: str, text: str, step: str = "") -> dict[str, str]:
    return {"kind": kind, "text": text, "step": step}


def _named(studio: Studio, log: Log, text: str) -> str:
    """A message with the name that the user knows."""
    return text.replace(str(studio.logs.path(log)), log.name)


ROUTES = [
    Route("/api/steps", steps, methods=["GET"]),
    Route("/api/logs/{log}/advice", advice, methods=["GET"]),
    Route("/api/logs/{log}/preview", look, methods=["POST"]),
]
