"""HDF5 files through h5py: plain ones, and those that MATLAB writes as version 7.3."""

from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.columns import NO_WORDS, ArrayColumns, FileWords, as_variables
from prssm.foundation.errors import DataError, MissingExtraError
from prssm.foundation.limits import check_unpacked


def is_hdf5(path: Path) -> bool:
    """Whether the file begins as HDF5 does, or as MATLAB's files of that kind."""
    with path.open("rb") as stream:
        start = stream.read(520)
    marks = (b"MATLAB 7.3", b"\x89HDF")
    return start.startswith(marks) or start[512:].startswith(b"\x89HDF")


def read_hdf5(path: Path, words: FileWords = NO_WORDS) -> ArrayColumns:
    """Every data set of a file by its path; the fields of a table by their names."""
    h5py = _import_h5py(path, "HDF5 files")
    found: dict[str, np.ndarray] = {}

    def visit(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset):
            return
        check_unpacked(path, item.nbytes, repr(name))
        values = np.asarray(item[()])
        if values.dtype.names:
            for key in values.dtype.names:
                found[key if key not in found else f"{name}/{key}"] = values[key]
        else:
            found[name] = _decoded(values)

    try:
        with h5py.File(path) as file:
            file.visititems(visit)
    except DataError:
        raise
    except Exception as error:  # h5py passes on whatever the library finds
        raise _not_whole(path, "HDF5", error) from None
    return as_variables(str(path), found)


def matlab_tree(path: Path) -> dict[str, Any]:
    """The variables of a MAT 7.3 file: dict a structure, list a cell, None an object."""
    h5py = _import_h5py(path, "MAT files of version 7.3")
    try:
        with h5py.File(path) as file:
            check_unpacked(path, _bytes_in(file))
            return {
                name: _plain(item, file, h5py)
                for name, item in file.items()
                if not name.startswith("#")
            }
    except DataError:
        raise
    except Exception as error:  # h5py passes on whatever the library finds
        raise _not_whole(path, "MAT 7.3", error) from None


def _bytes_in(file: Any) -> int:
    """What all data sets of a file take in memory, as it says itself."""
    sizes: list[int] = []
    file.visititems(lambda name, item: sizes.append(int(getattr(item, "nbytes", 0))))
    return sum(sizes)


def _plain(item: Any, file: Any, h5py: Any) -> Any:
    if "MATLAB_object_decode" in item.attrs:
        return None
    if isinstance(item, h5py.Group):
        return _structure({key: _plain(part, file, h5py) for key, part in item.items()})
    values = np.asarray(item[()])
    if values.dtype.kind == "O":  # references: a cell, or a field of a list of structures
        return [_plain(file[reference], file, h5py) for reference in values.ravel()]
    kind = item.attrs.get("MATLAB_class", b"")
    if kind in (b"char", "char"):
        return np.array("".join(map(chr, values.ravel())))
    # MATLAB stores columns first, HDF5 rows first: every array arrives transposed
    return values.T


def _structure(fields: dict[str, Any]) -> Any:
    """A structure; a list of them where every field is a list of equal length."""
    lengths = {len(part) if isinstance(part, list) else -1 for part in fields.values()}
    if len(lengths) != 1 or lengths & {-1, 1}:
        return fields
    return [{key: part[i] for key, part in fields.items()} for i in range(lengths.pop())]


def _decoded(values: np.ndarray) -> np.ndarray:
    """Texts that h5py gives as bytes."""
    if values.dtype.kind != "O" or not values.size or not isinstance(values.flat[0], bytes):
        return values
    return np.array([item.decode("utf-8", "replace") for item in values.ravel()], dtype=object)


def _import_h5py(path: Path, what: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(
            f"{path}: {what} need the extra hdf5: pip install 'prssm[hdf5]'"
        ) from None
    return h5py


def _not_whole(path: Path, kind: str, error: Exception) -> DataError:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{path}: not a whole {kind} file (truncated or of another kind): {line}")
