"""Inputs that a person types or draws: step, ramp, sine, points, values.

    shaped({"kind": "step", "before": 0, "after": 1, "at": 20}, rows=100)

A new shape is a function and a line in `SHAPES`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from prssm.foundation.errors import OptionError

MOST_ROWS = 20_000


def shaped(shape: Mapping[str, Any], rows: int) -> np.ndarray:
    """The values of a shape at so many rows."""
    kind = shape.get("kind")
    if kind not in SHAPES:
        raise OptionError(f"shape: expected one of {', '.join(SHAPES)}, got {kind!r}")
    values = SHAPES[kind](shape, np.arange(rows, dtype=np.float64))
    if not np.isfinite(values).all():
        raise OptionError(f"{kind}: expected finite numbers")
    return values


def _step(shape: Mapping[str, Any], row: np.ndarray) -> np.ndarray:
    return np.where(row < _number(shape, "at"), _number(shape, "before"), _number(shape, "after"))


def _ramp(shape: Mapping[str, Any], row: np.ndarray) -> np.ndarray:
    begin = _number(shape, "at")
    end = _number(shape, "end")
    if not end > begin:
        raise OptionError(f"ramp: expected an end after its begin, got {begin:g} and {end:g}")
    return np.interp(row, [begin, end], [_number(shape, "before"), _number(shape, "after")])


def _sine(shape: Mapping[str, Any], row: np.ndarray) -> np.ndarray:
    period = _number(shape, "period")
    if not period > 0:
        raise OptionError(f"sine: expected a period above 0 rows, got {period:g}")
    wave = np.sin(2.0 * np.pi * row / period)
    return _number(shape, "mean") + _number(shape, "amplitude") * wave


def _points(shape: Mapping[str, Any], row: np.ndarray) -> np.ndarray:
    """Straight lines between points [row, value]; the ends are held."""
    try:
        points = np.array(shape.get("points"), dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        points = np.zeros((0, 2))
    if not len(points) or not np.isfinite(points).all():
        raise OptionError("points: expected one or more pairs of a row and a value")
    points = points[np.argsort(points[:, 0], kind="stable")]
    return np.interp(row, points[:, 0], points[:, 1])


def _values(shape: Mapping[str, Any], row: np.ndarray) -> np.ndarray:
    """Numbers as one types them, one a row; the last one is held."""
    texts = re.split(r"[\s,;]+", str(shape.get("values", "")).strip())
    try:
        values = np.array([float(text) for text in texts if text])
    except ValueError:
        raise OptionError("values: expected numbers, separated by blanks or commas") from None
    if not len(values):
        raise OptionError("values: expected at least one number")
    return values[np.minimum(row.astype(int), len(values) - 1)]


SHAPES: dict[str, Callable[[Mapping[str, Any], np.ndarray], np.ndarray]] = {
    "step": _step,
    "ramp": _ramp,
    "sine": _sine,
    "points": _points,
    "values": _values,
}


def _number(shape: Mapping[str, Any], name: str) -> float:
    value = shape.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise OptionError(f"{shape.get('kind')}: {name}: expected a number, got {value!r}")
    return float(value)
