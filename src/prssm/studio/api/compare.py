"""What the page asks to compare models: runs, residuals, responses, states and slices.

Every figure is one of the report's; the numbers come from the same functions as on the command
line.
"""

from collections.abc import Iterable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prssm.foundation.errors import OptionError
from prssm.studio.answers import answer, body_of
from prssm.studio.api.asked import Asked, for_each, models_of
from prssm.studio.api.logs import studio_of
from prssm.studio.studio import SYSTEMS, Studio

_STEP = "step"
_IMPULSE = "impulse"
_STATIC = "static"
_POLES = "poles"


async def runs(request: Request) -> Response:
    """The runs of some models over the same rows, with their scores."""
    asked = Asked.of(await body_of(request))
    return answer(await run_in_threadpool(_runs, studio_of(request), asked))


def _runs(studio: Studio, asked: Asked) -> dict[str, Any]:
    from prssm.studio.figures.items import item
    from prssm.studio.figures.runs import runs_and_inputs

    found, lines = for_each(
        asked.models, lambda id_: studio.runs.run(id_, asked.stretch, asked.horizon)
    )
    if not found:
        return {"figures": [], "table": None, "lines": lines}
    lines += [
        {"kind": "warning", "text": f"{id_}: {text}"}
        for id_, run in found.items()
        for text in run.cautions
    ]
    figures = [item(runs_and_inputs(found))]
    return {"figures": figures, "table": scores_table(studio, found), "lines": lines}


def scores_table(studio: Studio, found: dict[str, Any]) -> dict[str, Any] | None:
    """Scores of runs that were measured, one row a model, the best of each column marked."""
    from prssm.evaluation.comparison import ScoreRow
    from prssm.prediction.metrics import evaluate
    from prssm.report.tables import score_table

    rows = []
    for id_, run in found.items():
        if run.measured is not None:
            scores = evaluate([run], studio.models.one(id_).scaler_.y_std)
            rows.append(ScoreRow(id_, scores))
    return cells(score_table(rows)) if rows else None


def cells(table: Any) -> dict[str, Any]:
    """A table of the report as the page takes it."""
    columns = range(len(table.header))
    return {
        "header": [{"text": table.header[j], "number": table.numeric(j)} for j in columns],
        "rows": [
            [
                {"text": table.text(i, j), "number": table.numeric(j), "best": (i, j) in table.best}
                for j in columns
            ]
            for i in range(len(table.rows))
        ],
    }


async def residuals(request: Request) -> Response:
    """Tests of the errors one step ahead, for each model."""
    asked = Asked.of(await body_of(request))
    return answer(await run_in_threadpool(_residuals, studio_of(request), asked))


def _residuals(studio: Studio, asked: Asked) -> dict[str, Any]:
    from prssm.evaluation.comparison import residuals_of
    from prssm.report.interactive.residuals import correlations
    from prssm.report.residual_words import in_words
    from prssm.studio.figures.items import item

    def work(id_: str) -> Any:
        model = studio.models.one(id_)
        return residuals_of(model, [studio.runs.record(model, asked.stretch)])

    found, lines = for_each(asked.models, work)
    figures = []
    for id_, checked in found.items():
        for text in in_words(checked):
            good = not isinstance(checked, str) and checked.white and checked.independent
            lines.append({"kind": "good" if good else "warning", "text": f"{id_}: {text}"})
        if not isinstance(checked, str):
            figures.append({"title": id_, **item(correlations(checked))})
    return {"figures": figures, "lines": lines}


async def behaviour(request: Request) -> Response:
    """Responses, static curve or poles of some models, with bands."""
    document = await body_of(request)
    kind = document.get("kind", _STEP)
    if kind not in (_STEP, _IMPULSE, _STATIC, _POLES):
        raise OptionError(f"kind: expected step, impulse, static or poles, got {kind!r}")
    models = models_of(document)
    return answer(await run_in_threadpool(_behaviour, studio_of(request), models, kind))


def _behaviour(studio: Studio, models: tuple[str, ...], kind: str) -> dict[str, Any]:
    from prssm.report.interactive.responses import poles, responses, static_curves
    from prssm.studio.figures.items import item

    found, lines = for_each(models, studio.linearised)
    alike, others = _alike(found)
    lines += [
        {"kind": "warning", "text": f"{id_}: other inputs or outputs than the first model's"}
        for id_ in others
    ]
    if not alike:
        return {"figures": [], "lines": lines}
    if kind == _POLES:
        figures = [{"title": id_, **item(poles(near))} for id_, near in alike.items()]
    elif kind == _STATIC:
        curves = {id_: studio.models.one(id_).static_curve(samples=SYSTEMS) for id_ in alike}
        figures = [item(static_curves(alike, curves))]
    else:
        figures = [item(responses(alike, kind))]
        lines += _dead_times(studio, alike)
    return {"figures": figures, "lines": lines}


def _dead_times(studio: Studio, models: Iterable[str]) -> list[dict[str, str]]:
    """What responses leave out, for each model that has it."""
    from prssm.report.fit.behaviour import without_dead_times

    told = {id_: without_dead_times(studio.models.one(id_)) for id_ in models}
    return [{"kind": "", "text": f"{id_}: {text}"} for id_, text in told.items() if text]


def _alike(found: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Those with the inputs and outputs of the first, and the others."""
    names = {id_: (near.input_names, near.output_names) for id_, near in found.items()}
    first = next(iter(names.values()), None)
    alike = {id_: near for id_, near in found.items() if names[id_] == first and first[0]}
    return alike, [id_ for id_ in found if id_ not in alike]


async def states(request: Request) -> Response:
    """The trajectory of a model's states over some rows."""
    asked = Asked.of(await body_of(request))
    return answer(await run_in_threadpool(_states, studio_of(request), asked))


def _states(studio: Studio, asked: Asked) -> dict[str, Any]:
    from prssm.report.interactive.runs import states as drawn
    from prssm.studio.figures.items import item

    found, lines = for_each(asked.models, lambda id_: studio.runs.run(id_, asked.stretch))
    figures = []
    for id_, run in found.items():
        if run.state_mean is None:
            lines.append({"kind": "", "text": f"{id_}: this method has no states"})
        else:
            figures.append({"title": id_, **item(drawn(run))})
    return {"figures": figures, "lines": lines}


async def slices(request: Request) -> Response:
    """What a model learnt: its next states over one state or input at a time."""
    asked = Asked.of(await body_of(request))
    return answer(await run_in_threadpool(_slices, studio_of(request), asked))


def _slices(studio: Studio, asked: Asked) -> dict[str, Any]:
    from prssm.report.interactive.slices import slices as drawn
    from prssm.studio.figures.items import item

    def work(id_: str) -> Any:
        run = studio.runs.run(id_, asked.stretch)
        return studio.models.one(id_).transition_slices(run, samples=SYSTEMS)

    found, lines = for_each(asked.models, work)
    return {
        "figures": [{"title": id_, **item(drawn(part))} for id_, part in found.items()],
        "lines": lines,
    }


ROUTES = [
    Route("/api/compare/runs", runs, methods=["POST"]),
    Route("/api/compare/residuals", residuals, methods=["POST"]),
    Route("/api/compare/behaviour", behaviour, methods=["POST"]),
    Route("/api/compare/states", states, methods=["POST"]),
    Route("/api/compare/slices", slices, methods=["POST"]),
]
