"""What an export writes: a folder of files, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from prssm.foundation.atomic import replacing
from prssm.foundation.errors import OptionError


def checked_folder(out: Path) -> Path:
    """The path, if a folder can be there; asked before any work."""
    for place in (out, *out.parents):
        if place.exists() and not place.is_dir():
            raise OptionError(f"out: expected the name of a folder, got the file {str(place)!r}")
    return out


def write_folder(out: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files into the folder `out`; files of other names there stay as they are."""
    checked_folder(out).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with replacing(out / name) as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())
    return out
