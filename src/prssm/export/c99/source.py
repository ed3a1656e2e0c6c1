"""The text of the generated C code: `sources` gives the files by name."""

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from prssm.export import draws as drawing
from prssm.export.c99.tables import LANES, padded_points, tables
from prssm.export.description import Column, Description
from prssm.export.draws import Draws
from prssm.export.reference_filter import MEMORY
from prssm.export.targets import ExportSettings
from prssm.export.text import in_comment, render
from prssm.foundation.version import __version__
from prssm.prediction.seen import AWAY
from prssm.prediction.widening import FADES, MOST, WIDER

HEADER = "prssm_model.h"
SOURCE = "prssm_model.c"
UNMEASURED = "Time and memory of a step were not measured: no C compiler was found."

# Words and numbers that differ between the precisions.
_WORDS: dict[str, dict[str, Any]] = {
    "double": {
        "real": "double",
        "bits": "uint64_t",
        "magic": "6755399441055744.0",
        "largest_exponent": 300.0,  # far from numbers that are slow to compute with
        "ln2_high": "6.93147180369123816490e-01",
        "ln2_low": "1.90821492927058770002e-10",
        "bias": 1023,
        "mantissa": 52,
        "terms": 13,
        "largest": "DBL_MAX",
        "tolerance": "1e-12",
        "away": AWAY,
    },
    "single": {
        "real": "float",
        "bits": "uint32_t",
        "magic": "12582912.0",
        "largest_exponent": 60.0,
        "ln2_high": "0.693359375",
        "ln2_low": "-2.12194440e-4",
        "bias": 127,
        "mantissa": 23,
        "terms": 8,
        "largest": "FLT_MAX",
        "tolerance": "1e-5",
        "away": 1e18,
    },
}
_FUNCTIONS = ("exp", "sqrt", "tanh", "fabs", "log")


@dataclass(frozen=True, eq=False)
class Sources:
    """The generated files, and the draws behind their trajectories; none for the mean alone."""

    files: dict[str, str]
    draws: Draws | None
    trajectories: int
    table_bytes: int


def sources(
    description: Description, settings: ExportSettings, *, measured: str = UNMEASURED
) -> Sources:
    """The header and the source file; `measured` is what the header says of time and memory."""
    drawn = settings.samples > 0
    draws = drawing.fixed(description, settings.samples, settings.seed) if drawn else None
    found = tables(description, draws, settings.precision)
    quantiles = drawing.quantile_table().astype(found["A"].dtype)
    members = len(description.members)
    trajectories = members * (draws.share if draws else 1)
    values = {
        **_words(settings.precision, description.kernel),
        **_sizes(description),
        **_prose(description, trajectories if drawn else 0),
        **_outside(description, drawn, settings.precision),
        "tables": found,
        "band": drawn,
        "trajectories": trajectories,
        "own_functions": drawn and description.draws == "trajectory",
        # A linear model is uncertain of its first state alone.
        "uses_noise": description.points > 0,
        "quantiles": quantiles,
        "noises": trajectories * description.states,
        "hash": [(shift, hex(factor)) for shift, factor in drawing.HASH],
        "table_bits": drawing.TABLE_BITS,
        "memory": MEMORY,
        "measured": measured,
    }
    files = {HEADER: render("model.h", **values), SOURCE: render("model.c", **values)}
    size = sum(array.nbytes for array in found.values()) + (quantiles.nbytes if drawn else 0)
    return Sources(files, draws, trajectories, size)


def _words(precision: str, kernel: str) -> dict[str, Any]:
    words = dict(_WORDS[precision])
    reach = words["largest_exponent"]
    words["farthest"] = reach if kernel == "squared-exponential" else reach**2
    suffix = "f" if precision == "single" else ""
    kind = np.float32 if precision == "single" else np.float64
    words |= {name: name + suffix for name in _FUNCTIONS}
    words["taylor"] = [str(kind(1.0 / factorial(n))) for n in reversed(range(words["terms"]))]
    return words


def _sizes(description: Description) -> dict[str, Any]:
    first = description.members[0]
    recognition = first.recognition
    return {
        "states": description.states,
        "members": len(description.members),
        "followed": len(description.followed),
        "kernel": description.kernel,
        "kernels": len(first.zeta),
        "points": padded_points(description),
        "neurons": description.neurons,
        "lanes": LANES,
        "window": description.window,
        "hidden": 0 if recognition is None else len(recognition.hidden_bias),
        "coloured": description.colour_states > 0,
        "filter_states": description.states + description.colour_states,
        "step_size": repr(description.step_size),
        "dt_known": description.dt is not None,
    }


def _outside(description: Description, drawn: bool, precision: str) -> dict[str, Any]:
    """What widens the band outside of the training data."""
    seen = description.seen
    if seen is None or not drawn:
        words = "The band does not know how far a run is outside of the training data."
        return {"widens": False, "outside_words": words if drawn else "There is no band."}
    away = _WORDS[precision]["away"]
    points, axes = seen.points.shape
    return {
        "widens": True,
        "outside_words": "The band is wider outside of the training data, as in `simulate`.",
        "cloud": points if axes else 0,
        "axes": axes,
        "limit": repr(min(float(seen.limit), away)),
        "away": away,
        "wider": WIDER,
        "most": MOST,
        "fades": FADES,
    }


def _prose(description: Description, trajectories: int) -> dict[str, Any]:
    rows = description.stride
    step = f"{rows} rows of the recordings, over which inputs are averaged" if rows > 1 else "a row"
    if description.dt is not None:
        step = f"{description.step_size:g} s" + (f", {step}" if rows > 1 else "")
    outputs = ", ".join(in_comment(column.name) for column in description.outputs)
    return {
        "title": f"A learnt simulator of {outputs}",
        "version": __version__,
        "method": description.method,
        "step_words": step,
        "trajectory_words": "they carry the band" if trajectories else "one each: the mean alone",
        "inputs": [_column(column) for column in description.inputs],
        "outputs": [_column(column) for column in description.outputs],
    }


def _column(column: Column) -> dict[str, str]:
    """A column with its words for a comment."""
    says = f"{in_comment(column.name)}, usually {column.mean:.4g} +- {column.std:.4g}"
    return {"identifier": column.identifier, "says": says}
