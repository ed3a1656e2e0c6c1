"""The application: which address gives what. `make_app(studio, ...)` is what a server runs."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from prssm.foundation.errors import PrssmError
from prssm.foundation.version import __version__
from prssm.studio import answers
from prssm.studio.api import advice, compare, jobs, logs, take, what_if
from prssm.studio.guard import Guard
from prssm.studio.studio import Studio

PAGE = Path(__file__).parent / "page"
_ENDPOINTS = (logs, advice, jobs, compare, what_if, take)


def make_app(studio: Studio, *, token: str, port: int, names: Iterable[str] = ()) -> Starlette:
    """The application of one studio, behind its guard."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        studio.start()
        yield
        studio.close()

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/api/state", _state),
            Route("/api/events", _events),
            *(route for part in _ENDPOINTS for route in part.ROUTES),
            Mount("/page", StaticFiles(directory=PAGE)),
            Mount("/bokeh", StaticFiles(directory=_bokeh_scripts())),
        ],
        middleware=[Middleware(Guard, token=token, port=port, names=tuple(names))],
        exception_handlers={
            PrssmError: answers.mistake,
            OSError: answers.disk_trouble,
            HTTPException: _refused,
            Exception: answers.bug,
        },
        lifespan=life,
    )
    app.state.studio = studio
    return app


def _bokeh_scripts() -> Path:
    """BokehJS comes from the installed package; nothing is taken from the network."""
    import bokeh

    return Path(bokeh.__file__).parent / "server" / "static" / "js"


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": f"{error.detail}: {request.url.path}"}, error.status_code)


def _page(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


def _state(request: Request) -> Response:
    """All that the page shows at its start, and after every event."""
    studio: Studio = request.app.state.studio
    return answers.answer(
        {
            "version": __version__,
            "project": str(studio.folder),
            "upload": studio.settings.upload,
            "logs": [{"id": log.id, "name": log.name} for log in studio.logs.all()],
            "jobs": [jobs.described(studio, job) for job in studio.jobs.all()],
            "models": studio.models.described(),
        }
    )


async def _events(request: Request) -> Response:
    studio: Studio = request.app.state.studio
    return StreamingResponse(studio.events.stream(), media_type="text/event-stream")
