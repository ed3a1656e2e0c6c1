"""Where an export may go: each function gives the path back, or says what is wrong with it.

They need no model, so that a wrong place is said before any work.
"""

from pathlib import Path

from prssm.foundation.errors import OptionError


def folder(out: Path) -> Path:
    """The path, if a folder can be there."""
    for place in (out, *out.parents):
        if place.exists() and not place.is_dir():
            raise OptionError(f"out: expected the name of a folder, got the file {str(place)!r}")
    return out


def file(out: Path) -> Path:
    """The path, if a file can be there."""
    if out.is_dir():
        raise OptionError(f"out: expected the name of a file, got the folder {str(out)!r}")
    folder(out.parent)
    return out


def fmu(out: Path) -> Path:
    """The path, if a file can be there and simulators will know it as an FMU."""
    if out.suffix.lower() != ".fmu" or out.is_dir():
        raise OptionError(f"out: expected a file name that ends in .fmu, got {str(out)!r}")
    return file(out)
