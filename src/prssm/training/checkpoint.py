"""The state of a training run in a file, so that nothing is lost.

A checkpoint goes on only where it would have gone on by itself: with the same version of the
program, the same layout of the state, the same options and the same data.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm.foundation import locks, storage
from prssm.foundation.errors import ModelFileError
from prssm.foundation.fingerprint import fingerprint as checksum
from prssm.foundation.options import Options
from prssm.foundation.version import __version__
from prssm.training.distributed import store

# What the saved arrays mean. Raise it whenever a training run saves something else under an old
# name, or goes on from the same arrays in another way.
LAYOUT = 3


class Checkpoint:
    """Saves and restores a tree of arrays; without a path it does nothing.

    The fingerprint says which options and data the run belongs to: another run's checkpoint is
    refused, and so is that of another version of the program. Of several processes only the first
    saves, and all get what it loads.
    """

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While inside, no other run may use this checkpoint."""
        if self.path is None or not store.leads():
            yield
            return
        lock = self.path.with_name(f".{self.path.name}.lock")
        with locks.alone(lock) as free:
            if not free:
                raise ModelFileError(
                    f"{self.path}: another run is using this checkpoint; name another file"
                )
            yield

    def save(self, state: dict[str, Any]) -> None:
        if self.path is None or not store.leads():
            return
        arrays = {name: np.asarray(leaf) for name, leaf in _named_leaves(state)}
        header = {
            "program": __version__,
            "layout": LAYOUT,
            "fingerprint": self.fingerprint,
            "iteration": int(state["iteration"]),
            "content": _content(arrays),
        }
        storage.write(self.path, "checkpoint", header, arrays)

    def load(self, like: dict[str, Any]) -> dict[str, Any]:
        """The saved state in the shape of `like`; `like` itself when there is no file yet."""
        if self.path is None or not store.leads() or not self.path.exists():
            return like
        header, arrays = self._own_file(self.path)
        if header.get("content") != _content(arrays):
            raise ModelFileError(
                f"{self.path}: the checkpoint's arrays are not those that were saved; remove the "
                "file to start anew"
            )
        leaves = [self._like(leaf, name, arrays) for name, leaf in _named_leaves(like)]
        return jax.tree.unflatten(jax.tree.structure(like), leaves)

    def refuse_others(self) -> None:
        """Raises where the file is of another run, for what is done before training goes on."""
        if self.path is not None and store.leads() and self.path.exists():
            self._own_file(self.path)

    def _own_file(self, path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What is in the file, if this program wrote it with the same options and data."""
        header, arrays = storage.read(path, "checkpoint")
        self._check_program(header)
        if header.get("fingerprint") != self.fingerprint:
            raise ModelFileError(
                f"{path}: this checkpoint belongs to other data or options; "
                f"use those again, or remove the file to start anew"
            )
        return header, arrays

    def _like(self, leaf: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
        """A saved array, if it can stand for the leaf; one without rows grows while training."""
        if name not in arrays:
            raise ModelFileError(f"{self.path}: the checkpoint lacks {name!r}")
        array = arrays[name]
        expected = np.shape(leaf)
        if expected[:1] == (0,) and array.ndim:
            expected = (len(array), *expected[1:])
        kind = np.asarray(leaf).dtype
        if array.shape != expected or array.dtype != kind:
            raise ModelFileError(
                f"{self.path}: expected {name} of shape {expected} and type {kind}, got shape "
                f"{array.shape} and type {array.dtype}"
            )
        return jnp.asarray(array) if isinstance(leaf, jax.Array) else array

    def _check_program(self, header: dict[str, Any]) -> None:
        """Refuses to go on with the checkpoint of another version.

        It may go on in another way, and would end with a model that neither version gives.
        """
        if "program" not in header or "layout" not in header:
            writer = "a version that did not note itself"
        else:
            writer = f"{header['program']} (layout {header['layout']})"
        here = f"{__version__} (layout {LAYOUT})"
        if writer != here:
            raise ModelFileError(
                f"{self.path}: this checkpoint was written by prssm {writer}, this is {here}; go "
                "on with that version, or remove the file to start anew"
            )


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    ]


def _content(arrays: dict[str, np.ndarray]) -> str:
    """Identifies what was saved: a file that was changed afterwards is not gone on with."""
    names = sorted(arrays)
    return checksum((arrays[name] for name in names), also=json.dumps(names))


def fingerprint(options: Options, data: Iterable[Any]) -> str:
    """Identifies a training run: the same options on the same arrays (or numbers)."""
    return checksum(data, also=json.dumps(options.to_dict(), sort_keys=True))
