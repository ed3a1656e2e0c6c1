"""Files that are complete under their name, or not there at all."""

import errno
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from prssm.foundation import locks
from prssm.foundation.errors import WriteError

_PART = ".part"
_unfinished: set[Path] = set()  # of this process


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose content takes the name `path` when the block ends without an error.

    Until then an old file of that name stays as it was; after an error nothing of the new one
    remains. A link is followed, and parts that a killed program has left are removed. A device or
    a pipe is written to as it is.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not (target.is_file() or target.is_dir()):
            opened = target.open("wb")
            part = None
        else:
            _remove_orphans(target)
            part, handle = _begun(target)
            opened = os.fdopen(handle, "wb")
    except OSError as error:
        raise _write_error(path, error) from None
    try:
        with opened as stream:
            yield stream
            stream.flush()
            if part is not None:
                _finish(stream, part, target)
        if part is not None and os.name == "nt":  # where an open file cannot be renamed
            os.replace(part, target)
    except OSError as error:
        if error.filename is None or Path(error.filename) == part:
            raise _write_error(path, error) from None
        raise  # of another file, which the block was reading
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
            _unfinished.discard(part)


def _finish(stream: IO[bytes], part: Path, target: Path) -> None:
    """On the disk, with the rights of the file that it replaces, under its name."""
    os.fsync(stream.fileno())
    if target.is_file():
        os.chmod(part, target.stat().st_mode & 0o7777)
    if os.name != "nt":
        os.replace(part, target)


def remove_unfinished() -> None:
    """For a process that ends at once: what it was writing is removed."""
    for part in tuple(_unfinished):
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _begun(target: Path) -> tuple[Path, int]:
    """A new file beside the target, locked as long as it is open.

    It has the rights that the user's umask leaves.
    """
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_PART}")
        _unfinished.add(part)
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # a file system without locks: nobody takes it for an orphan
            locks.try_lock(handle)
        if os.fstat(handle).st_nlink:
            return part, handle
        # another program took it for an orphan before it was locked
        os.close(handle)
        _unfinished.discard(part)


def _remove_orphans(target: Path) -> None:
    """Parts of this file that nobody holds a lock on: their writer was killed."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.*{_PART}"):
        with suppress(OSError):  # somebody else's, just gone, or nobody can tell
            handle = os.open(part, os.O_RDWR)
            try:
                if locks.try_lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def _write_error(path: Path, error: OSError) -> WriteError:
    words = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        words = "the disk is full" if error.errno == errno.ENOSPC else "the disk quota is used up"
    kept = "; the file of that name is as it was" if path.is_file() else ""
    return WriteError(f"{path}: cannot write here: {words}{kept}")
