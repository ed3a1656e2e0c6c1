"""Locks on files, which end with the process that holds them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_held: set[Path] = set()  # lock files of this process


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file `path` in the block, among all programs of this machine; waits for it."""
    with path.open("a") as stream:
        _lock(stream.fileno(), wait=True)
        yield  # closing the file gives the lock back


def try_lock(handle: int) -> bool:
    """Lock an open file if nobody else has; it is free again when the file is closed.

    An OSError: the file system has no locks.
    """
    try:
        _lock(handle, wait=False)
    except (BlockingIOError, PermissionError):  # of Unix, of Windows
        return False
    return True


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Says whether this program is the only one in such a block for this lock file.

    The file is there as long as the block lasts, or until the next one if a program is killed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _opened(path)
    except OSError:  # nothing can be written here, by anybody: there is nothing to share
        yield True
        return
    if handle is None:
        yield False
        return
    _held.add(path)
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)
        _held.discard(path)


def remove_held() -> None:
    """For a process that ends at once: the lock files of its blocks are removed."""
    for path in tuple(_held):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _opened(path: Path) -> int | None:
    """The lock file, locked; None where another program has it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            free = try_lock(handle)
        except OSError:  # no locks here: everybody is alone
            return handle
        if not free:
            os.close(handle)
            return None
        # who had it before may have removed it: then it is not the file of that name any more
        if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
            return handle
        os.close(handle)


def _lock(handle: int, wait: bool) -> None:
    if os.name == "nt":
        import msvcrt

        # The module is empty to a checker on another system.
        kind = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined]
        msvcrt.locking(handle, kind, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
