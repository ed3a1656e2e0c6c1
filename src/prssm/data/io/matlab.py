"""MATLAB files: matrices, structures (`z.InputData`) and cells of experiments.

Versions 5 to 7 are read through scipy, version 7.3 through h5py. Both become a tree of plain
Python objects first (dict for a structure, list for a cell or a list of structures), which
`_Found` then lays out as columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.columns import NO_WORDS, ArrayColumns, FileWords, as_variables
from prssm.data.io.hdf5 import is_hdf5, matlab_tree
from prssm.data.io.mat_check import check_mat
from prssm.foundation.errors import DataError

OBJECT = (
    "is an object that only MATLAB reads (a table, timetable or string); save it there as a "
    "structure, s = table2struct(T, 'ToScalar', true)"
)


@dataclass(frozen=True)
class MatlabColumns(ArrayColumns):
    """Columns of a MAT file; `lists` are those of several experiments, one array each."""

    lists: Mapping[str, list[np.ndarray]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [*super().names, *self.lists]

    def expand(self, name: str) -> list[str]:
        return [name] if name in self.lists else super().expand(name)

    def numbers(self, name: str) -> np.ndarray:
        if name not in self.lists:
            return super().numbers(name)
        arrays = [np.ravel(array) for array in self.lists[name]]
        return np.concatenate(arrays).astype(np.float64)

    def experiments(self, names: Sequence[str]) -> list[ArrayColumns]:
        """One table for each experiment in the cells that are asked for; else this one."""
        asked = [name for name in names if name in self.lists]
        if not asked:
            return [self]
        counts = {name: len(self.lists[name]) for name in asked}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise DataError(f"{self.where}: cells of different numbers of experiments: {told}")
        return [self._experiment(i, counts[asked[0]]) for i in range(counts[asked[0]])]

    def _experiment(self, index: int, count: int) -> ArrayColumns:
        chosen = {name: arrays[index] for name, arrays in self.lists.items() if len(arrays) > index}
        label = f"{self.where}{{{index + 1}}}" if count > 1 else self.where
        table = as_variables(label, chosen)
        return replace(
            table,
            variables={**self.variables, **table.variables},
            left_out={**self.left_out, **table.left_out},
            scalars={**self.scalars, **table.scalars},
        )


def read_mat(path: Path, words: FileWords = NO_WORDS) -> MatlabColumns:
    """All variables of a MAT file."""
    tree = matlab_tree(path) if is_hdf5(path) else _tree_of_version_5(path)
    found = _Found()
    for name, value in tree.items():
        found.add(name, value)
    left_out = {name: OBJECT for name in found.objects}
    single = {name: float(a.flat[0]) for name, a in found.arrays.items() if _is_single(a)}
    if found.lists and len(single) == len(found.arrays):
        left_out |= {name: "holds 1 value" for name in single}
        scalars = {**found.scalars, **single}
        return MatlabColumns(str(path), {}, left_out=left_out, scalars=scalars, lists=found.lists)
    if not found.arrays and found.objects:
        raise DataError(f"{path}: variable {found.objects[0]!r} {OBJECT}")
    table = as_variables(str(path), found.arrays)
    return MatlabColumns(
        table.where,
        table.variables,
        left_out={**table.left_out, **left_out},
        texts=table.texts,
        scalars={**found.scalars, **table.scalars},
        lists=found.lists,
    )


@dataclass
class _Found:
    """What a tree holds, by the names that MATLAB gives its places."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    lists: dict[str, list[np.ndarray]] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)

    def add(self, name: str, value: Any) -> None:
        if value is None:
            self.objects.append(name)
        elif isinstance(value, dict):
            for key, item in value.items():
                self.add(f"{name}.{key}", item)
        elif isinstance(value, list):
            self._add_cells(name, value)
        else:
            self.arrays[name] = value

    def _add_cells(self, name: str, items: list[Any]) -> None:
        """Cells of arrays, or of structures with equal fields, are experiments."""
        if items and all(isinstance(item, dict) for item in items):
            fields = set.intersection(*(set(item) for item in items))
            for key in items[0]:
                if key in fields:
                    self._add_cells(f"{name}.{key}", [item[key] for item in items])
            return
        numeric = [item for item in items if isinstance(item, np.ndarray) and _is_numeric(item)]
        if len(numeric) != len(items) or not items:
            return
        sizes = {item.size for item in numeric}
        if sizes == {1}:  # one number for each experiment, as the Ts of an iddata
            values = {float(item.flat[0]) for item in numeric}
            if len(values) == 1:
                self.scalars[name] = values.pop()
            return
        self.lists[name] = numeric


def _is_single(array: np.ndarray) -> bool:
    return _is_numeric(array) and array.size == 1


def _is_numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "bifu"


def _tree_of_version_5(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    check_mat(path)
    try:
        found = loadmat(path)
    # scipy raises a dozen kinds here; all mean that this is no readable MAT file
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path}: not a whole MAT file (truncated or of another kind): {line}"
        ) from None
    return {
        name: _plain(value)
        for name, value in found.items()
        if not name.startswith("__") and isinstance(value, np.ndarray)
    }


def _plain(value: Any) -> Any:
    """A variable of scipy's as dict, list, array, or None for what only MATLAB understands."""
    from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque

    if isinstance(value, MatlabOpaque | MatlabFunction):
        return None
    if isinstance(value, MatlabObject) or value.dtype.names:
        items = [{key: _plain(item[key]) for key in value.dtype.names} for item in np.ravel(value)]
        return items[0] if len(items) == 1 else items
    if value.dtype.kind == "O":
        return [_plain(item) for item in np.ravel(value, order="F")]
    return value
