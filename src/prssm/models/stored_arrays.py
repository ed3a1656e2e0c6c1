"""Arrays from a model file are checked before a model is made of them.

    check(arrays, {"mean": ("y",), "A": ("x", "x")}, y=2)

A length is a number, or a letter: one of the known lengths, or the same in all arrays.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from prssm.foundation.errors import ModelFileError

MOST_LAGS = 10_000  # more than any recording has been described by
_LARGEST = 1e100  # a square of more may be no number
_LARGEST_LOGARITHM = 300.0  # the square of its exponential is a number
Shape = tuple[str | int, ...]


def check(arrays: Mapping[str, np.ndarray], shapes: Mapping[str, Shape], **known: int) -> None:
    """All arrays that are named are there, with these shapes."""
    lengths = dict(known)
    for name, shape in shapes.items():
        if name not in arrays:
            raise ModelFileError(f"the array {name!r} is missing")
        found = arrays[name].shape
        if len(found) == len(shape):
            for length, letter in zip(found, shape, strict=True):
                if isinstance(letter, str):
                    lengths.setdefault(letter, length)
        expected = tuple(lengths.get(x, -1) if isinstance(x, str) else x for x in shape)
        if found != expected:
            words = " x ".join(map(str, shape))
            raise ModelFileError(
                f"the array {name!r} has shape {found}, expected {words} = {expected}"
            )
        if arrays[name].dtype.kind == "b":
            raise ModelFileError(f"the array {name!r} holds truth values, expected numbers")
        if _is_deviation(name) and not (arrays[name] >= 0.0).all():
            raise ModelFileError(f"the array {name!r} holds a deviation below 0")


def _is_deviation(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.endswith("std") and not last.startswith("log_")


def _largest(name: str) -> float:
    is_logarithm = name.rpartition(".")[2].startswith("log_")
    return _LARGEST_LOGARITHM if is_logarithm else _LARGEST


def check_numbers(arrays: Mapping[str, np.ndarray], but: str = "") -> None:
    """All arrays hold finite real numbers, but those whose names begin with `but`."""
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise ModelFileError(f"the array {name!r} holds {array.dtype}, expected numbers")
        if not (but and name.startswith(but)) and not (np.abs(array) < _largest(name)).all():
            raise ModelFileError(
                f"the array {name!r} holds a value that is not finite or too large"
            )


def whole_number(values: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A value of the file's header that counts something."""
    value = values[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ModelFileError(f"{name}: expected a whole number of {least} to {most}, got {value!r}")
    return value
