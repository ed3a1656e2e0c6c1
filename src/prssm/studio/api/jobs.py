"""What the page asks about training: methods, jobs, and the live picture of a model."""

import dataclasses
import shlex
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prssm.evaluation.tasks.words import fit_words
from prssm.studio.answers import answer, body_of
from prssm.studio.api.logs import studio_of
from prssm.studio.jobs.job import Job
from prssm.studio.jobs.tasks import settings_of, task_of
from prssm.studio.studio import Studio

FIRST = ("prssm", "linear", "gp-narx")  # methods that most people want, in this order


def methods(request: Request) -> Response:
    """Every method with its presets and options."""
    from prssm.models.registry import METHODS, method

    names = [*FIRST, *(name for name in METHODS if name not in FIRST)]
    found = []
    for name in names:
        kind = method(name)
        found.append(
            {
                "name": name,
                "says": (kind.__doc__ or "").strip().splitlines()[0],
                "presets": list(kind.PRESETS),
                "options": [_option(field) for field in dataclasses.fields(kind.Config)],
            }
        )
    return answer({"methods": found})


def _option(field: "dataclasses.Field[Any]") -> dict[str, Any]:
    return {
        "name": field.name,
        "help": field.metadata.get("help", ""),
        "choices": list(field.metadata.get("choices") or ()),
    }


async def add(request: Request) -> Response:
    """Queue a fit."""
    return answer(await run_in_threadpool(_add, studio_of(request), await body_of(request)))


def _add(studio: Studio, document: Mapping[str, Any]) -> dict[str, Any]:
    log = studio.logs.one(str(document.get("log")))
    selection = studio.selection(log)
    selection.check(studio.columns(log))
    task = task_of(document, log, selection)
    id_ = studio.jobs.free_id(task["method"])
    words = fit_words(settings_of(task, studio.logs, f"models/{id_}.prssm"))
    return described(studio, studio.jobs.add(id_, words[1:], task))


def described(studio: Studio, job: Job) -> dict[str, Any]:
    """A job as the page shows it."""
    said = [word for word in job.words if word != "--resume"]
    return {
        "id": job.id,
        "state": job.state,
        "reason": job.reason,
        "method": job.task.get("method", ""),
        "log": job.task.get("log", ""),
        "name": job.task.get("name", ""),
        "budget": job.task.get("budget"),
        "begun": job.begun,
        "ended": job.ended,
        "history": list(job.history),
        "progress": studio.jobs.progress(job) if job.state == "running" else {},
        "command": shlex.join(["prssm", *said]),
        "has_model": job.id in studio.models.paths(),
    }


def picture(request: Request) -> Response:
    """The free run of a job's model over the scored rows, and how its error fell."""
    import numpy as np

    from prssm.report.interactive.progress import errors_on_the_way
    from prssm.report.interactive.runs import free_runs
    from prssm.studio.figures.items import item

    studio = studio_of(request)
    job = studio.jobs.one(request.path_params["job"])
    rows = studio.judge.rows(job)
    runs, scores = studio.judge.run(studio.models.one(job.id), rows)
    shown = {job.id: runs[0]}
    linear = rows.linear
    if linear is not None and linear.predictions and job.task.get("method") != "linear":
        shown["linear"] = linear.predictions[0]
    history = [(entry["seconds"], entry["rmse"]) for entry in job.history]
    figures = {"run": item(free_runs(shown, bands=[job.id]))}
    if len(history) > 1:
        seconds, errors = np.array(history, dtype=float).T
        curves = {job.id: (seconds, errors)}
        if linear is not None and "rmse" in linear.scores:
            curves["linear"] = (seconds[[0, -1]], np.full(2, linear.scores["rmse"]))
        beside = "test RMSE" if rows.held_out else "training RMSE"
        figures["errors"] = item(errors_on_the_way(curves, beside, "seconds of training"))
    return answer(
        {
            "figures": figures,
            "held_out": rows.held_out,
            "scores": {job.id: scores, **{row.label: dict(row.scores) for row in rows.plain}},
            "cautions": list(runs[0].cautions),
        }
    )


def stop(request: Request) -> Response:
    """End a job; its best model so far stays."""
    studio_of(request).jobs.stop(request.path_params["job"])
    return answer({})


def resume(request: Request) -> Response:
    """Go on with a job."""
    studio_of(request).jobs.resume(request.path_params["job"])
    return answer({})


def forget(request: Request) -> Response:
    """Remove a job and its model."""
    studio_of(request).jobs.forget(request.path_params["job"])
    return answer({})


ROUTES = [
    Route("/api/methods", methods, methods=["GET"]),
    Route("/api/jobs", add, methods=["POST"]),
    Route("/api/jobs/{job}", forget, methods=["DELETE"]),
    Route("/api/jobs/{job}/picture", picture, methods=["GET"]),
    Route("/api/jobs/{job}/stop", stop, methods=["POST"]),
    Route("/api/jobs/{job}/resume", resume, methods=["POST"]),
]
