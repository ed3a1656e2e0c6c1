"""Answers to the page: JSON, and one clear line for every error."""

import base64
import json
import sys
import traceback
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from prssm.foundation.errors import PrssmError, shortened
from prssm.foundation.plain_json import without_nan

UNKNOWN = 404
MISTAKE = 422  # something that the user can mend
BUG = 500


class NotThere(PrssmError):
    """The page asked for something that the project does not hold (any more)."""


def answer(document: Any) -> Response:
    """A JSON document; what is not a finite number is null."""
    text = json.dumps(without_nan(document), allow_nan=False)
    return Response(text, media_type="application/json")


def packed(values: np.ndarray) -> str:
    """Numbers for the page, bit by bit: 64-bit floats in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that the page has sent."""
    try:
        document = await request.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise PrssmError("expected a JSON object")
    return document


async def mistake(request: Request, error: Exception) -> Response:
    """What the user can mend, in one line."""
    code = UNKNOWN if isinstance(error, NotThere) else MISTAKE
    return JSONResponse({"error": shortened(str(error))}, code)


async def disk_trouble(request: Request, error: Exception) -> Response:
    """A file that cannot be read or written, in one line."""
    told = getattr(error, "strerror", None) or str(error)
    name = getattr(error, "filename", None) or "a file"
    return JSONResponse({"error": shortened(f"{name}: {told}")}, MISTAKE)


async def bug(request: Request, error: Exception) -> Response:
    """A fault of ours: the page says so, the terminal shows where it arose."""
    traceback.print_exception(error, file=sys.stderr)
    line = f"this is a bug, please report it: {type(error).__name__}: {error}"
    return JSONResponse({"error": shortened(line)}, BUG)
