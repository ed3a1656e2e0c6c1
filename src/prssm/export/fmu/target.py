"""`to="fmu2"` and `to="fmu3"`: the description, the sources and this machine's binary in a file."""

import platform
import sys
import tempfile
import uuid
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from prssm.export.c99.compiler import build, compiler
from prssm.export.c99.source import sources
from prssm.export.description import Description
from prssm.export.fmu import absent
from prssm.export.fmu.variables import SECONDS, printable, units, variables
from prssm.export.names import identifier
from prssm.export.targets import ExportSettings
from prssm.export.text import in_comment, render
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import PrssmError
from prssm.foundation.version import __version__

_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same file
_STOP = 100  # steps of the default experiment
_FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden")


def write_fmi2(description: Description, out: Path, settings: ExportSettings) -> Path:
    """An FMU for FMI 2.0."""
    return _write(description, out, settings, version=2)


def write_fmi3(description: Description, out: Path, settings: ExportSettings) -> Path:
    """An FMU for FMI 3.0."""
    return _write(description, out, settings, version=3)


def _write(description: Description, out: Path, settings: ExportSettings, version: int) -> Path:
    if compiler() is None:
        raise PrssmError(
            "export: an FMU carries a compiled library, and no C compiler was found; install gcc "
            "or clang, or name one in the environment variable CC"
        )
    name = identifier(out.stem)
    texts = fmu_texts(description, settings, name=name, version=version)
    folder, suffix = _platform(version)
    code = {path.removeprefix("sources/"): text for path, text in texts.items() if "/" in path}
    library = _compiled(code, suffix)
    with replacing(out) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in texts.items():
            archive.writestr(zipfile.ZipInfo(path, _DATE), text, zipfile.ZIP_DEFLATED)
        place = zipfile.ZipInfo(f"binaries/{folder}/{name}{suffix}", _DATE)
        place.external_attr = 0o755 << 16
        archive.writestr(place, library, zipfile.ZIP_DEFLATED)
    return out


def fmu_texts(
    description: Description, settings: ExportSettings, *, name: str, version: int
) -> dict[str, str]:
    """All text files of an FMU, by their path in it."""
    made = sources(description, settings, measured="Part of an FMU.")
    found = variables(description, band=settings.samples > 0)
    wrapper = f"fmi{version}.c"
    files = [wrapper, *(file for file in made.files if file.endswith(".c"))]
    outputs = ", ".join(printable(column.name) for column in description.outputs)
    comment = ", ".join(in_comment(column.name) for column in description.outputs)
    inputs = [one for one in found if one.causality == "input"]
    values: dict[str, Any] = {
        "identifier": name,
        "version": __version__,
        "title": f"A learnt simulator of {outputs}",
        "source_files": files,
        "variables": found,
        "units": units(found),
        "seconds": SECONDS,
        "input_indices": " ".join(str(one.index) for one in inputs),
        "input_references": " ".join(str(one.reference) for one in inputs),
        "step": repr(description.step_size),
        "stop": repr(_STOP * description.step_size),
    }
    # Whoever changes a number changes the token.
    token = "{" + str(uuid.uuid5(uuid.NAMESPACE_OID, str(values) + str(made.files))) + "}"
    code: dict[str, Any] = {
        "title": f"A learnt simulator of {comment}",
        "version": __version__,
        "token": token,
        "band": settings.samples > 0,
        "inputs": inputs,
        "absent": absent.FMI2 if version == 2 else absent.FMI3,
        "input_start": np.array([*(column.mean for column in description.inputs), 0.0]),
        "first_start": _first_start(description),
    }
    texts = {
        "modelDescription.xml": render(f"fmi{version}.xml", escape=True, token=token, **values)
    }
    texts |= {f"sources/{file}": text for file, text in made.files.items()}
    texts[f"sources/{wrapper}"] = render(f"fmi{version}.c", **code)
    if version == 3:
        texts["sources/buildDescription.xml"] = render("build.xml", escape=True, **values)
    return texts


def _first_start(description: Description) -> np.ndarray:
    """Of the parameters that hold the first samples; one more, for C knows no empty table."""
    window = description.window
    u = [column.mean for column in description.inputs]
    y = [column.mean for column in description.outputs]
    return np.array([*u * window, *y * window, 0.0])


def _compiled(code: dict[str, str], suffix: str) -> bytes:
    command = compiler()
    assert command is not None
    with tempfile.TemporaryDirectory(prefix="prssm-export-") as name:
        folder = Path(name)
        for file, text in code.items():
            (folder / file).write_text(text, encoding="utf-8")
        library = folder / f"model{suffix}"
        return build(command, sorted(folder.glob("*.c")), library, flags=_FLAGS).read_bytes()


def _platform(version: int) -> tuple[str, str]:
    """The folder of this machine's binaries, and how its libraries end."""
    bits = "64" if sys.maxsize > 2**32 else "32"
    system = {"linux": "linux", "darwin": "darwin", "win32": "win"}.get(sys.platform, sys.platform)
    suffix = {"darwin": ".dylib", "win": ".dll"}.get(system, ".so")
    if version == 2:
        return f"{system}{bits}", suffix
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    return f"{machine}-{'windows' if system == 'win' else system}", suffix
