"""Where a program keeps, on this kind of machine, what it can make or fetch again."""

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The package's folder among the user's caches; it need not exist."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "prssm"
