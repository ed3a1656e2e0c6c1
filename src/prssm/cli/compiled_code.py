"""Code that JAX has compiled is kept for the next command, in the user's cache folder.

PRSSM_CACHE names another folder, or is `off`. Only the command line does this, by the environment
variables that JAX reads when it is imported; a variable that the user has set stays as it is.
"""

import os
import warnings
from collections.abc import MutableMapping
from pathlib import Path

from prssm.foundation.folders import cache_folder

VARIABLE = "PRSSM_CACHE"
OFF = ("off", "0", "")
# Shorter compilations are not worth a file.
_LEAST_SECONDS = "0.2"


def keep(environment: MutableMapping[str, str] = os.environ) -> None:
    """Call before JAX is imported. Where nothing can be written, nothing is kept."""
    chosen = environment.get(VARIABLE)
    if chosen in OFF or "JAX_COMPILATION_CACHE_DIR" in environment:
        return
    folder = _usable(chosen)
    if folder is None:
        return
    environment["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    environment.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", _LEAST_SECONDS)
    # A damaged file or a full disk costs a compilation; there is nothing for the user to do.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation")


def _usable(chosen: str | None) -> Path | None:
    """The folder, made if need be; None where it cannot be made or written."""
    try:
        folder = Path(chosen).expanduser() if chosen else cache_folder() / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where the home folder is
        return None
    return folder.absolute() if os.access(folder, os.W_OK | os.X_OK) else None
