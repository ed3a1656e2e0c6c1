"""Members of a mixture in a model file: the arrays of their tree, each under its path in it."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np


def arrays_of(prefix: str, models: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree that lead with the members, by names that begin with `prefix`."""
    leaves = jax.tree_util.tree_leaves_with_path(models)
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def models_from(arrays: Mapping[str, np.ndarray], prefix: str, like: Any, *, members: int) -> Any:
    """The tree again, where `like` is one member without values; shapes are checked."""
    leaves = [
        checked(arrays, prefix + jax.tree_util.keystr(path), (members, *np.shape(leaf)))
        for path, leaf in jax.tree_util.tree_leaves_with_path(like)
    ]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def checked(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a model file, which must have this shape."""
    if arrays[name].shape != shape:
        raise TypeError(f"{name} has shape {arrays[name].shape}, the options ask for {shape}")
    return arrays[name]
