"""What would the system do? The response of models to an input that was typed or drawn."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from prssm.data.record import Record
from prssm.foundation.errors import DataError, OptionError
from prssm.models.estimator import Estimator
from prssm.prediction.prediction import Prediction
from prssm.studio.answers import answer, body_of
from prssm.studio.api.asked import for_each, models_of, whole
from prssm.studio.api.logs import studio_of
from prssm.studio.project.shapes import MOST_ROWS, shaped
from prssm.studio.studio import Studio

_REACH = 2.0  # deviations of the training input that a pane shows around its mean


def usual(request: Request) -> Response:
    """The inputs of a model, with the range that training has covered."""
    model = studio_of(request).models.one(request.path_params["model"])
    low, high = training_range(model)
    inputs = [
        {"name": name, "low": float(low[i]), "high": float(high[i])}
        for i, name in enumerate(model.input_names_)
    ]
    return answer({"inputs": inputs, "dt": model.dt_})


def training_range(model: Estimator) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest input of training; around its mean for an old model file."""
    if model.domain_.input_range is not None:
        return model.domain_.input_range[0], model.domain_.input_range[1]
    reach = _REACH * model.scaler_.u_std
    return model.scaler_.u_mean - reach, model.scaler_.u_mean + reach


async def response(request: Request) -> Response:
    """The free runs of some models under the inputs."""
    document = await body_of(request)
    return answer(await run_in_threadpool(_response, studio_of(request), document))


def _response(studio: Studio, document: Mapping[str, Any]) -> dict[str, Any]:
    from prssm.studio.figures.items import item
    from prssm.studio.figures.runs import runs_and_inputs

    found, lines = for_each(models_of(document), lambda id_: _run(studio, id_, document))
    if not found:
        return {"figures": [], "lines": lines}
    lines += [
        {"kind": "warning", "text": f"{id_}: {text}"}
        for id_, run in found.items()
        for text in run.cautions
    ]
    return {"figures": [item(runs_and_inputs(found))], "lines": lines}


def _run(studio: Studio, id_: str, document: Mapping[str, Any]) -> Prediction:
    model = studio.models.one(id_)
    u = _inputs(document, model.input_names_)
    record = Record(u, None, model.dt_, input_names=model.input_names_, name="what if")
    return model.free_runs(record)[0]


def _inputs(document: Mapping[str, Any], names: tuple[str, ...]) -> np.ndarray:
    """The columns that a model takes, from the shapes that the page has sent by name."""
    rows = whole(document, "rows", least=2)
    if rows > MOST_ROWS:
        raise OptionError(f"rows: expected at most {MOST_ROWS}, got {rows}")
    shapes = document.get("inputs")
    if not isinstance(shapes, dict):
        raise OptionError("inputs: expected a shape for each input")
    missing = [name for name in names if not isinstance(shapes.get(name), dict)]
    if missing:
        raise DataError(f"needs the input {missing[0]!r}, which was not given")
    if not names:
        raise DataError("has no inputs that could be changed")
    return np.stack([shaped(shapes[name], rows) for name in names], axis=1)


async def as_log(request: Request) -> Response:
    """The inputs as a CSV file, for `prssm simulate`."""
    document = await body_of(request)
    model = studio_of(request).models.one(models_of(document)[0])
    u = _inputs(document, model.input_names_)
    from prssm.report.tables import Table, to_csv

    step = model.dt_ or 1.0
    rows = [[row * step, *map(float, values)] for row, values in enumerate(u)]
    table = Table("", ["time" if model.dt_ else "row", *model.input_names_], rows)
    return PlainTextResponse(to_csv(table), media_type="text/csv")


ROUTES = [
    Route("/api/what-if/{model}", usual, methods=["GET"]),
    Route("/api/what-if", response, methods=["POST"]),
    Route("/api/what-if.csv", as_log, methods=["POST"]),
]
