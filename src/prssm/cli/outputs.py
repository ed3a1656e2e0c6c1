"""Files that the commands write.

Names are checked before any work, contents appear under their name only when whole.
"""

import json
import math
from pathlib import Path
from typing import Any

from prssm.foundation.atomic import replacing
from prssm.foundation.errors import OptionError

MODEL = (".prssm",)
REPORT = (".html", ".htm")
TABLE = (".csv", ".parquet")
SCORES = (".json",)


def checked_name(path: Path, suffixes: tuple[str, ...], option: str) -> Path:
    """The path, if its ending says what will be in it and nothing else is in its place."""
    if path.suffix.lower() not in suffixes:
        raise OptionError(
            f"{option}: expected a name that ends in {' or '.join(suffixes)}, got {str(path)!r}"
        )
    if path.is_dir():
        raise OptionError(f"{option}: expected a file name, got the folder {str(path)!r}")
    for folder in path.parents:
        if folder.exists() and not folder.is_dir():
            raise OptionError(
                f"{option}: {str(folder)!r} is a file, so nothing can be written below it"
            )
    return path


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


def numbered(path: Path, count: int) -> list[Path]:
    """One file a record: pred.csv, or pred-0.csv, pred-1.csv, ..."""
    return [path] if count == 1 else [path.with_stem(f"{path.stem}-{i}") for i in range(count)]
