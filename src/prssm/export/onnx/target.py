"""`to="onnx"`: a folder with the graphs `start.onnx`, `step.onnx` and `run.onnx`."""

from pathlib import Path

import numpy as np

from prssm.export.description import Description
from prssm.export.folders import write_folder
from prssm.export.targets import ExportSettings
from prssm.foundation.errors import MissingExtraError


def write(description: Description, out: Path, settings: ExportSettings) -> Path:
    """Write the graphs, in single or double precision."""
    try:
        from prssm.export.onnx.graphs import graphs_of
    except ImportError:
        raise MissingExtraError("export to onnx needs ONNX: pip install 'prssm[onnx]'") from None
    kind = np.float64 if settings.precision == "double" else np.float32
    graphs = graphs_of(description, samples=settings.samples, seed=settings.seed, kind=kind)
    files = {f"{name}.onnx": part.SerializeToString() for name, part in graphs._asdict().items()}
    return write_folder(out, files)
