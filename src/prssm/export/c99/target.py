"""`to="c"`: a folder with a header, a source file and a self-test."""

from pathlib import Path

from prssm.export.c99.selftest import SELFTEST, measure, selftest
from prssm.export.c99.source import UNMEASURED, sources
from prssm.export.description import Description
from prssm.export.folders import write_folder
from prssm.export.targets import ExportSettings
from prssm.foundation.errors import PrssmError


def write(description: Description, out: Path, settings: ExportSettings) -> Path:
    """Write the files into the folder `out`, where none but such files are replaced."""
    return write_folder(out, c_files(description, settings))


def c_files(description: Description, settings: ExportSettings) -> dict[str, str]:
    """The files by name; the header tells the time of a step where a compiler is at hand."""
    made = sources(description, settings)
    test = selftest(description, settings, made)
    measured = measure({**made.files, SELFTEST: test})
    if measured is not None and not measured.disagreement < 1.0:
        raise PrssmError(
            f"export: the compiled code ({measured.compiler}) is {measured.disagreement:.3g} "
            "deviations of an output away from the model; please report it"
        )
    said = UNMEASURED if measured is None else measured.sentence(made.table_bytes)
    final = sources(description, settings, measured=said)
    return {**final.files, SELFTEST: test}
