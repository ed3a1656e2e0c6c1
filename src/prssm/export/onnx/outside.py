"""How far a step is outside of the training data, as nodes of a graph: `export/description.py`."""

import numpy as np

from prssm.export.onnx.builder import Builder
from prssm.prediction.seen import AWAY, Seen
from prssm.prediction.widening import FADES, MOST, WIDER

_AWAY = {np.dtype(np.float64): AWAY, np.dtype(np.float32): 1e18}  # squares are numbers


def widened(g: Builder, seen: Seen, *, u: str | None, mean: str) -> str:
    """The factor of the band, from `state`, `far`, scaled inputs (Du, 1) and mean outputs (Dy,).

    `next_far` gets its name.
    """
    distances = [g.number(0.0), _beyond(g, mean, seen.output_limits)]
    if u is not None:
        flat = g.shaped(u, [seen.input_range.shape[1]])
        distances.append(_beyond(g, flat, seen.input_limits))
    if seen.axes.shape[1]:
        distances.append(_from_cloud(g, seen, u))
    least = g.node("Min", g.node("Max", *distances), g.number(MOST))
    far = g.node("Max", least, g.multiply("far", g.number(FADES)))
    g.named(far, "next_far")
    return g.add(g.number(1.0), g.multiply(g.number(WIDER), far))


def _from_cloud(g: Builder, seen: Seen, u: str | None) -> str:
    """Beyond its limit, from the nearest point that training has shown."""
    first = g.node("Gather", "state", g.whole(0), axis=0)
    path = g.node("ReduceMean", first, g.whole([1]), keepdims=1)
    xu = path if u is None else g.node("Concat", path, u, axis=0)
    apart = g.subtract(_tamed(g, xu), g.number(seen.centre[:, None]))
    at = g.product(g.number(seen.axes.T), apart)
    squares = g.square(g.subtract(g.number(seen.points.T), at))
    nearest = g.node("ReduceMin", g.sum(squares, 0), g.whole([0]), keepdims=0)
    limit = min(float(seen.limit), _AWAY[g.kind])
    return g.subtract(g.node("Sqrt", nearest), g.number(limit))


def _beyond(g: Builder, values: str, limits: np.ndarray) -> str:
    """By how much the worst of some values is beyond its limits."""
    known = _tamed(g, values)
    below = g.subtract(g.number(limits[0]), known)
    above = g.subtract(known, g.number(limits[1]))
    return g.node("ReduceMax", g.node("Max", below, above), g.whole([0]), keepdims=0)


def _tamed(g: Builder, values: str) -> str:
    """What is lost or too large to be squared is far away."""
    away = _AWAY[g.kind]
    known = g.node("Where", g.node("IsNaN", values), g.number(away), values)
    return g.node("Clip", known, g.number(-away), g.number(away))
