"""A checksum of arrays, for everything that asks whether two runs saw the same numbers.

    fingerprint([record.u, record.y])
    fingerprint(arrays, also=json.dumps(options))

Shapes count too: the same numbers as two columns are other data.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np


def fingerprint(arrays: Iterable[Any], also: str = "") -> str:
    """A SHA-256 of the arrays (or numbers, or texts) in their order, and of the text `also`."""
    digest = hashlib.sha256(also.encode())
    for part in arrays:
        array = np.asarray(part)
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
