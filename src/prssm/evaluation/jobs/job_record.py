"""What is written down about one job: its key, its outcome, and why it failed where it did.

A job is an experiment of a benchmark, a trial of a search or a row of a study. Its record is a
dictionary of plain values that JSON can hold.
"""

import hashlib
import json
import math
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.foundation.errors import PrssmError

SCHEMA_VERSION = 1  # of the records; a file with another one is refused
OK = "ok"
FAILED = "failed"
_TRACEBACK_CHARACTERS = 4000


@dataclass(frozen=True, eq=False)
class Finished:
    """What a job gives back: its record, and the arrays that its figures are drawn from."""

    record: dict[str, Any]
    arrays: dict[str, np.ndarray]


def key_of(*identity: Any) -> str:
    """The key under which a job is recorded: the same for the same plain values, in any process.

    Name all that the result depends on, and nothing else: a job whose key is recorded is not run
    again.
    """
    text = json.dumps([SCHEMA_VERSION, *identity], sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def failure(error: BaseException) -> dict[str, Any]:
    """The fields that say that a job failed, and why."""
    trace = "".join(traceback.format_exception(error))[-_TRACEBACK_CHARACTERS:]
    return {"outcome": FAILED, "reason": reason(error), "traceback": trace, "metrics": None}


def reason(error: BaseException) -> str:
    """An error in one line, for a table's footnote."""
    text = " ".join(str(error).split())
    return text if isinstance(error, PrssmError) else f"{type(error).__name__}: {text}"


def finite(value: Any) -> Any:
    """The same plain values with None for every number that is not finite: JSON has no such."""
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
