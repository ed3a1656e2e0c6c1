"""The run-time check of the shapes that jaxtyping's annotations promise, for its import hook.

Shapes and kinds of numbers are checked, whether an array is NumPy's or JAX's is not: the numerical
rooms take one for the other. All other annotations are left to mypy. Many modules may be one tree
whose arrays lead with their number, so the fields of a module may have more leading dimensions than
they say; arguments and results may not.
"""

import types
import typing
from typing import Any

import jax
import numpy as np
from beartype import beartype
from jaxtyping import AbstractArray

ANY_ARRAY = jax.Array | np.ndarray | np.generic


def shapes_only(function):
    """A function that checks the shapes of its annotated arguments, or of what it returns."""
    leading = "... " if function.__name__ == "__init__" else ""
    function.__annotations__ = {
        name: _shape(hint, leading) for name, hint in function.__annotations__.items()
    }
    return beartype(function)


def _shape(hint, leading):
    """The annotation with all that is no shape of an array taken out."""
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        open_already = "..." in hint.dim_str or "*" in hint.dim_str
        shape = hint.dim_str if open_already else leading + hint.dim_str
        return hint.dtype[ANY_ARRAY, shape]
    origin = typing.get_origin(hint)
    parts = typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        kept = [part if part is type(None) else _shape(part, leading) for part in parts]
        return typing.Union[tuple(kept)]  # noqa: UP007
    if origin is tuple and Ellipsis not in parts:
        return tuple[tuple(_shape(part, leading) for part in parts)]
    return Any
