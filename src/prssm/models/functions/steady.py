"""Where a fitted model comes to rest: the static curve, and the input that holds an output."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.foundation.errors import DataError
from prssm.models.functions import equilibrium
from prssm.models.functions.bands import Band
from prssm.models.functions.jax_model import JaxModel
from prssm.models.functions.linearise import point_of
from prssm.models.functions.plausible import Plausible

POINTS = 25  # of a curve, unless told
_REACH = 1.5  # of its input around the mean of training, in deviations


@dataclass(frozen=True, eq=False)
class StaticCurve:
    """Outputs at rest (G, Dy) for constant inputs (G, Du), in physical units.

    `found` (G,) is the share of the plausible systems that come to rest there.
    """

    inputs: np.ndarray
    band: Band
    found: np.ndarray

    def __repr__(self) -> str:
        points, inputs = self.inputs.shape
        outputs = self.band.middle.shape[1]
        return (
            f"StaticCurve({points} points, {inputs} input(s), {outputs} output(s), "
            f"{np.mean(self.found):.0%} of the systems at rest)"
        )

    def along(self, column: int, at: np.ndarray) -> np.ndarray:
        """The rows in which this input alone differs from the input `at` (Du,), in its order."""
        same = np.delete(self.inputs == at, column, axis=1).all(axis=1)
        rows = np.flatnonzero(same)
        _, first = np.unique(self.inputs[rows, column], return_index=True)
        return rows[first]


@dataclass(frozen=True, eq=False)
class SteadyState:
    """A point at which the best model rests, and where the plausible systems do."""

    state: np.ndarray
    input: np.ndarray
    output: np.ndarray
    input_band: Band
    output_band: Band


def static_curve(functions: JaxModel, systems: Plausible, inputs: Any = None) -> StaticCurve:
    """At the given inputs (G, Du); if none, over the range of training, one input by the other."""
    u = _grid(functions) if inputs is None else np.asarray(inputs, np.float64)
    if u.ndim == 1 and len(functions.input_names) == 1:
        u = u[:, None]
    if u.ndim != 2 or u.shape[1] != len(functions.input_names) or not np.isfinite(u).all():
        raise DataError(
            f"inputs: expected rows of {len(functions.input_names)} finite number(s), "
            f"got an array {np.shape(inputs)}"
        )
    scaling = functions.parameters.scaling
    rest = equilibrium.for_inputs(systems, (u - scaling.u_mean) / scaling.u_std)
    outputs = np.where(rest.found[..., None], rest.slopes.output, np.nan)
    samples = _samples(outputs * scaling.y_std + scaling.y_mean)
    found = rest.found.mean(axis=(0, 2))
    return StaticCurve(u, Band.of(samples, np.asarray(functions.parameters.band_factor)), found)


def input_range(functions: JaxModel, column: int, points: int = POINTS) -> np.ndarray:
    """(points, Du): one input over the range of training, the others at their mean."""
    scaling = functions.parameters.scaling
    inputs = np.tile(np.asarray(scaling.u_mean, np.float64), (points, 1))
    inputs[:, column] += scaling.u_std[column] * np.linspace(-_REACH, _REACH, points)
    return inputs


def steady_state(
    functions: JaxModel, systems: Plausible, *, input: Any = None, output: Any = None
) -> SteadyState:
    """At rest under an input, or at an output, whose input Newton's method finds."""
    if (input is None) == (output is None):
        raise DataError("steady_state: expected an input or an output, got both or neither")
    scaling = functions.parameters.scaling
    if output is None:
        wanted = point_of("input", input, None, functions.input_names)
        rest = equilibrium.for_inputs(systems, ((wanted - scaling.u_mean) / scaling.u_std)[None])
    else:
        wanted = point_of("output", output, None, functions.output_names)
        scaled = ((wanted - scaling.y_mean) / scaling.y_std)[None]
        rest = equilibrium.for_outputs(systems, scaled, len(functions.input_names))
    if not rest.found[0, 0, 0]:
        what = "input" if output is None else "output"
        raise DataError(
            f"{what}: expected one at which the model can rest, got {wanted}, for which Newton's "
            "method finds no state at rest; try one nearer to the training data"
        )
    found = rest.found[..., None]
    inputs = np.where(found, rest.u * scaling.u_std + scaling.u_mean, np.nan)
    outputs = np.where(found, rest.slopes.output * scaling.y_std + scaling.y_mean, np.nan)
    return SteadyState(
        rest.x[0, 0, 0],
        inputs[0, 0, 0],
        outputs[0, 0, 0],
        input_band=Band.of(_samples(inputs)[:, 0]),
        output_band=Band.of(_samples(outputs)[:, 0], np.asarray(functions.parameters.band_factor)),
    )


def _grid(functions: JaxModel) -> np.ndarray:
    count = len(functions.input_names)
    if count == 0:
        return np.zeros((1, 0))
    return np.concatenate([input_range(functions, column) for column in range(count)])


def _samples(values: np.ndarray) -> np.ndarray:
    """(M, G, B, D) with the systems of all members in front: (M B, G, D)."""
    members, grid, count, width = values.shape
    return np.swapaxes(values, 1, 2).reshape(members * count, grid, width)
