"""Packed files: log.csv.gz, log.csv.xz, log.zip with one file in it."""

import bz2
import gzip
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prssm.foundation.errors import DataError
from prssm.foundation.limits import check_unpacked

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
SUFFIXES = (*_OPENERS, ".zip")
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)
_PIECE = 1 << 20  # bytes


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file inside a packed one, for as long as it is read; messages name the packed one."""
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / _name_inside(path)
        try:
            with _stream(path) as packed, inner.open("wb") as plain:
                while piece := packed.read(_PIECE):
                    check_unpacked(path, plain.tell() + len(piece))
                    plain.write(piece)
        except _DAMAGE as error:
            raise DataError(f"{path}: not a whole packed file: {error}") from None
        if not inner.stat().st_size:
            raise DataError(f"{path}: the file inside is empty")
        try:
            yield inner
        except DataError as error:
            raise type(error)(str(error).replace(str(inner), str(path))) from None


def _name_inside(path: Path) -> str:
    if path.suffix.lower() != ".zip":
        return path.stem
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive)
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: not a whole zip file: {error}") from None
    if len(members) != 1:
        raise DataError(
            f"{path}: expected one file inside, got {len(members)} ({', '.join(members[:5])}); "
            "unpack it, and name the files"
        )
    return Path(members[0]).name


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Files, without what some systems add for themselves."""
    names = [item.filename for item in archive.infolist() if not item.is_dir()]
    return [name for name in names if not name.startswith("__MACOSX/")]


@contextmanager
def _stream(path: Path) -> Iterator[Any]:
    if path.suffix.lower() != ".zip":
        with _OPENERS[path.suffix.lower()](path, "rb") as stream:
            yield stream
        return
    with zipfile.ZipFile(path) as archive, archive.open(_members(archive)[0]) as stream:
        yield stream
