"""JSON that every reader takes: what is not a finite number is null."""

import json
import math
from pathlib import Path
from typing import Any

from prssm.foundation.atomic import replacing


def write_json(path: Path, document: Any) -> Path:
    """Valid JSON: what is not a finite number becomes null."""
    text = json.dumps(without_nan(document), indent=2, allow_nan=False) + "\n"
    with replacing(path) as stream:
        stream.write(text.encode())
    return path


def without_nan(value: Any) -> Any:
    """The same document with NaN and infinities as None."""
    if isinstance(value, dict):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
