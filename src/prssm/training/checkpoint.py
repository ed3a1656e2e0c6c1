"""The state of a training run in a file, so that nothing is lost."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm.foundation import storage
from prssm.foundation.errors import ModelFileError
from prssm.foundation.options import Options
from prssm.training.distributed import store


class Checkpoint:
    """Saves and restores a tree of arrays; without a path it does nothing.

    The fingerprint says which options, data and program the run belongs to: another run's
    checkpoint is refused. Of several processes only the first saves, and all get what it loads.
    """

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint

    def save(self, state: dict[str, Any]) -> None:
        if self.path is None or not store.leads():
            return
        arrays = {name: np.asarray(leaf) for name, leaf in _named_leaves(state)}
        header = {"fingerprint": self.fingerprint, "iteration": int(state["iteration"])}
        storage.write(self.path, "checkpoint", header, arrays)

    def load(self, like: dict[str, Any]) -> dict[str, Any]:
        """The saved state in the shape of `like`; `like` itself when there is no file yet."""
        if self.path is None or not store.leads() or not self.path.exists():
            return like
        header, arrays = storage.read(self.path, "checkpoint")
        if header.get("fingerprint") != self.fingerprint:
            raise ModelFileError(
                f"{self.path}: this checkpoint belongs to other data or options; "
                f"use those again, or remove the file to start anew"
            )
        names = [name for name, _ in _named_leaves(like)]
        missing = [name for name in names if name not in arrays]
        if missing:
            raise ModelFileError(f"{self.path}: the checkpoint lacks {missing[0]!r}")
        leaves = [_like(leaf, arrays[name]) for name, leaf in _named_leaves(like)]
        return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    ]


def _like(leaf: Any, array: np.ndarray) -> Any:
    return jnp.asarray(array) if isinstance(leaf, jax.Array) else array


def fingerprint(options: Options, data: Iterable[Any]) -> str:
    """Identifies a training run: the same options on the same arrays (or numbers)."""
    digest = hashlib.sha256(json.dumps(options.to_dict(), sort_keys=True).encode())
    for part in data:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
