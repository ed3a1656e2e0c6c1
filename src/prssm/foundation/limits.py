"""How much a packed file may unpack to: a small file must not fill the memory.

PRSSM_UNPACKED_GB changes the limit, for who knows that a file is large and right.
"""

import os
from pathlib import Path

from prssm.foundation.errors import DataError, OptionError

VARIABLE = "PRSSM_UNPACKED_GB"
_DEFAULT_GB = 1.0
_TIMES = 10  # a file that is large itself may unpack to so many times its size


def check_unpacked(path: Path, declared: int, what: str = "") -> None:
    """Refuse a file (or its part `what`) that declares to hold more bytes than it may."""
    allowed = max(_limit(), _TIMES * path.stat().st_size)
    if declared > allowed:
        part = f" {what}" if what else ""
        raise DataError(
            f"{path}:{part} unpacks to {declared / 1e9:.3g} GB from a file of "
            f"{path.stat().st_size / 1e6:.3g} MB; {VARIABLE} sets how much is allowed"
        )


def _limit() -> float:
    """In bytes."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return _DEFAULT_GB * 1e9
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not limit > 0.0:
        raise OptionError(f"{VARIABLE}: expected a number of gigabytes above 0, got {text!r}")
    return limit * 1e9
