"""What the page takes away: model file, report, scores, command line, script, exports."""

import shlex
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from prssm.evaluation.tasks.words import fit_script, fit_words
from prssm.export.targets import TARGETS
from prssm.foundation.errors import DataError
from prssm.studio import exports
from prssm.studio.answers import answer, body_of
from prssm.studio.api.asked import Asked
from prssm.studio.api.logs import studio_of
from prssm.studio.jobs.job import Job
from prssm.studio.jobs.tasks import settings_of
from prssm.studio.studio import Studio

# A report holds scripts of its own; it may run them, but as nobody: it sees nothing of the studio.
_ALONE = (
    "sandbox allow-scripts allow-popups; default-src 'none'; img-src data:; font-src data:; "
    "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'"
)


def about(request: Request) -> Response:
    """How a model was made: the command line and a script that do the same."""
    studio = studio_of(request)
    id_ = request.path_params["model"]
    path = studio.models.path(id_)
    targets = [{"name": name, "says": target.says} for name, target in TARGETS.items()]
    found = {"id": id_, "file": str(path.relative_to(studio.folder)), "targets": targets}
    job = _job(studio, id_)
    if job is not None:
        settings = settings_of(job.task, studio.logs, job.model)
        found["command"] = shlex.join(fit_words(settings))
        found["script"] = fit_script(settings)
        found["folder"] = str(studio.folder)
    return answer(found)


def _job(studio: Studio, id_: str) -> Job | None:
    """The job that has made a model; None for one that came from elsewhere."""
    return next((job for job in studio.jobs.all() if job.id == id_), None)


def model_file(request: Request) -> Response:
    """The model file."""
    path = studio_of(request).models.path(request.path_params["model"])
    return _download(path)


async def report(request: Request) -> Response:
    """Write the report of a model on its own data."""
    studio = studio_of(request)
    id_ = request.path_params["model"]
    studio.models.path(id_)
    job = _job(studio, id_)
    if job is None:
        raise DataError(
            f"{id_} was not trained here, so its data are not known; write its report with "
            f"`prssm report models/{id_}.prssm log.csv`"
        )
    path = await run_in_threadpool(_report, studio, id_, job)
    return answer({"file": str(path.relative_to(studio.folder))})


def _report(studio: Studio, id_: str, job: Job) -> Path:
    rows = studio.judge.rows(job)
    return exports.report(studio.models, studio.folder, id_, rows, str(job.task["name"]))


def shown_report(request: Request) -> Response:
    """A report that was written, to look at or to keep."""
    studio = studio_of(request)
    id_ = request.path_params["model"]
    path = studio.folder / "reports" / f"{studio.models.path(id_).stem}.html"
    if not path.is_file():
        raise DataError(f"{id_}: its report was not written yet")
    if "keep" in request.query_params:
        return _download(path)
    return FileResponse(path, headers={"Content-Security-Policy": _ALONE})


async def export(request: Request) -> Response:
    """Write a model in another language."""
    studio = studio_of(request)
    id_ = request.path_params["model"]
    target = str((await body_of(request)).get("to"))
    path = await run_in_threadpool(exports.export, studio.models, studio.folder, id_, target)
    return answer({"file": str(path.relative_to(studio.folder)), "name": path.name})


def exported(request: Request) -> Response:
    """An export that was written."""
    studio = studio_of(request)
    folder = studio.folder / "exports"
    there = {path.name: path for path in folder.glob("*") if path.is_file()}
    name = request.path_params["name"]
    if name not in there:
        raise DataError(f"exports: there is no {name!r}")
    return _download(there[name])


async def scores(request: Request) -> Response:
    """The scores of some models over the same rows, as CSV."""
    studio = studio_of(request)
    asked = Asked.of(await body_of(request))
    text = await run_in_threadpool(_scores, studio, asked)
    return PlainTextResponse(text, media_type="text/csv")


def _scores(studio: Studio, asked: Asked) -> str:
    from prssm.evaluation.comparison import ScoreRow
    from prssm.prediction.metrics import evaluate
    from prssm.report.tables import METRICS, score_table, to_csv

    rows = []
    for id_ in asked.models:
        run = studio.runs.run(id_, asked.stretch, asked.horizon)
        rows.append(ScoreRow(id_, evaluate([run], studio.models.one(id_).scaler_.y_std)))
    return to_csv(score_table(rows, metrics=tuple(METRICS)))


def _download(path: Path) -> FileResponse:
    return FileResponse(path, filename=path.name, content_disposition_type="attachment")


ROUTES = [
    Route("/api/models/{model}", about, methods=["GET"]),
    Route("/api/models/{model}/file", model_file, methods=["GET"]),
    Route("/api/models/{model}/report", report, methods=["POST"]),
    Route("/api/models/{model}/report", shown_report, methods=["GET"]),
    Route("/api/models/{model}/export", export, methods=["POST"]),
    Route("/api/exports/{name}", exported, methods=["GET"]),
    Route("/api/scores.csv", scores, methods=["POST"]),
]
