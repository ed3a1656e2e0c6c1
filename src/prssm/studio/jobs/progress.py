"""How far a job is: the last line of the file that its process writes."""

import json
import os
from pathlib import Path
from typing import Any

_LAST = 2000  # bytes


def progress_of(file: Path) -> dict[str, Any]:
    """Phase, steps done and in all, and the latest figures; empty where nothing is known."""
    try:
        with file.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _LAST))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        try:
            found = json.loads(line)
        except ValueError:
            continue  # half a line: it is being written
        if isinstance(found, dict):
            return found
    return {}
