"""`to="casadi"`: a file from which CasADi loads the step, and after it the start."""

import os
from pathlib import Path

from prssm.export.description import Description
from prssm.export.targets import ExportSettings
from prssm.foundation.errors import MissingExtraError, OptionError


def write(description: Description, out: Path, settings: ExportSettings) -> Path:
    """`casadi.Function.load(out)` is the step; a `FileDeserializer` gives step and start."""
    try:
        import casadi

        from prssm.export.casadi.functions import functions_of
    except ImportError:
        raise MissingExtraError(
            "export to casadi needs CasADi: pip install 'prssm[casadi]'"
        ) from None
    if settings.precision != "double":
        raise OptionError(
            f"precision: expected double, in which CasADi computes, got {settings.precision}"
        )
    functions = functions_of(description, samples=settings.samples, seed=settings.seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    new = out.with_name(f".{out.name}.new")
    file = casadi.FileSerializer(str(new))
    file.pack(functions.step)
    file.pack(functions.start)
    del file  # closes it
    os.replace(new, out)
    return out
