"""Files that are complete under their name, or not there at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from prssm.foundation.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose content takes the name `path` when the block ends without an error.

    Until then an old file of that name stays as it was; after an error nothing of the new one
    remains.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".part"
        )
    except OSError as error:
        raise DataError(f"{path}: cannot write here: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
