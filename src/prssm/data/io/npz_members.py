"""The arrays of an NPZ file, each read when its values are asked for.

What an array is (its type and shape) stands in front of it, so a member that nobody names takes
no memory.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from prssm.foundation.errors import DataError
from prssm.foundation.limits import check_unpacked


class Member:
    """An array of the file that looks like one but is not read before its values are needed."""

    def __init__(self, path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.path = path
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self._own_shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    def reshape(self, *shape: int) -> Self:
        """The same values in another shape, of which one length may be -1."""
        known = -int(np.prod(shape, dtype=object))
        self.shape = tuple(self.size // known if length < 0 else length for length in shape)
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        with _reading(self.path), zipfile.ZipFile(self.path) as archive:
            check_unpacked(self.path, self.size * self.dtype.itemsize, repr(self.name))
            with archive.open(f"{self.name}.npy") as member:
                found = np.lib.format.read_array(member, allow_pickle=False)
            if found.shape != self._own_shape:
                raise ValueError(f"{self.name!r} changed while it was read")
        return found.reshape(self.shape).astype(dtype or found.dtype)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong in the block means that this is no readable NPZ file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # of a dozen kinds, recursion and memory among them
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path}: not a whole NPZ file (truncated or of another kind): {line}"
        ) from None


def npz_members(path: Path) -> dict[str, Any]:
    """All arrays of the file by name; those of objects, which nobody can use, are refused."""
    with _reading(path), zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        return {
            info.filename.removesuffix(".npy"): _member(path, archive, info) for info in members
        }


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if header is None:
            raise DataError(f"{path}: {name!r} has version {version} of the NPY format, not 1 or 2")
        shape, _, dtype = header(stream)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if not dtype.hasobject and stream.tell() + size != info.file_size:
            raise DataError(
                f"{path}: {name!r} says that it has {size} bytes of numbers, but there are "
                f"{info.file_size - stream.tell()}"
            )
    return Member(path, name, shape, dtype)
