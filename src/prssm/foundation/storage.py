"""The one file format: a zip of `model.json` (readable) and `arrays.safetensors`. Never pickle.

Writing is atomic: the file is complete under its name, or it is not there.
"""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors.numpy import load as parse_arrays
from safetensors.numpy import save as format_arrays

from prssm.foundation.atomic import replacing
from prssm.foundation.errors import ModelFileError
from prssm.foundation.limits import check_unpacked

FORMAT = "prssm"
FORMAT_VERSION = 1
_JSON = "model.json"
_ARRAYS = "arrays.safetensors"
_MOST_JSON = 16_000_000  # bytes; a description has some thousands


def write(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> Path:
    """Write a file of the given kind ('model' or 'checkpoint') atomically.

    An old one stays until the new is whole.
    """
    path = Path(path)
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": kind, **header}
    # keeps numbers without a shape
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with replacing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_JSON, json.dumps(document, indent=2, allow_nan=False))
        archive.writestr(_ARRAYS, format_arrays(contiguous))
    return path


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file of the given kind.

    Anything else is a ModelFileError that says what is wrong.
    """
    path = Path(path)
    if not path.exists():
        raise ModelFileError(f"{path}: no such file")
    if path.is_dir():
        raise ModelFileError(f"{path}: expected a {kind} file, got a folder")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(path, archive)
            header = json.loads(archive.read(_JSON), parse_constant=_no_number)
            arrays = parse_arrays(archive.read(_ARRAYS))
    except Exception as error:  # of a dozen kinds: codecs, encryption, recursion, broken parts
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelFileError(
            f"{path}: not a whole prssm {kind} file (truncated or of another program): {line}"
        ) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(
            f"{path}: not a prssm file: its header says format {_field(header, 'format')!r}"
        )
    if header.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: file format version {header.get('format_version')!r}, "
            f"this program reads {FORMAT_VERSION}"
        )
    if header.get("kind") != kind:
        raise ModelFileError(f"{path}: expected a {kind} file, got a {header.get('kind')}")
    return header, arrays


def _no_number(word: str) -> NoReturn:
    """NaN and infinities, which this program never writes."""
    raise ValueError(f"its description holds {word}")


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    """A small file must not unpack to one that fills the memory."""
    described = archive.getinfo(_JSON).file_size
    if described > _MOST_JSON:
        raise ValueError(f"its description has {described} bytes, expected at most {_MOST_JSON}")
    check_unpacked(path, archive.getinfo(_ARRAYS).file_size)


def _field(header: Any, name: str) -> Any:
    return header.get(name) if isinstance(header, dict) else None
