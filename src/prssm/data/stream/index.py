"""The index of a stream is checked before anything in it is believed."""

from typing import Any

from prssm.data.record import LONGEST_STEP
from prssm.foundation.errors import DataError

_NUMBER = int | float


def check_index(index: Any) -> None:
    """Types, ranges and lengths; a DataError says what is wrong, without the file's name."""
    if not isinstance(index, dict):
        raise DataError(f"expected names and values, got {type(index).__name__}")
    for name in ("inputs", "outputs", "names"):
        _check_names(name, _of(index, name), distinct=name != "names")
    if not index["outputs"]:
        raise DataError("outputs: expected at least one name, got none")
    dt = _of(index, "dt")
    if dt is not None and not (_is_number(dt) and 0.0 < dt < LONGEST_STEP):
        raise DataError(f"dt: expected a number of seconds above 0 or nothing, got {dt!r}")
    lengths = _of(index, "lengths")
    if not isinstance(lengths, list) or len(lengths) != len(index["names"]) or not lengths:
        raise DataError("lengths: expected one for each of the names")
    if not all(isinstance(rows, int) and 1 <= rows < 2**48 for rows in lengths):
        raise DataError("lengths: expected whole numbers of rows above 0")
    if not isinstance(_of(index, "digest"), str):
        raise DataError(f"digest: expected a text, got {index['digest']!r}")
    _check_statistics(_of(index, "statistics"), len(index["inputs"]) + len(index["outputs"]))


def _of(index: dict[str, Any], name: str) -> Any:
    if name not in index:
        raise DataError(f"{name!r} is missing")
    return index[name]


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBER) and not isinstance(value, bool)


def _check_names(name: str, names: Any, distinct: bool) -> None:
    if not isinstance(names, list) or not all(isinstance(each, str) and each for each in names):
        raise DataError(f"{name}: expected a list of names, got {names!r}")
    if distinct and len(set(names)) < len(names):
        raise DataError(f"{name}: expected different names, got {names!r}")


def _check_statistics(statistics: Any, width: int) -> None:
    if not isinstance(statistics, dict):
        raise DataError(f"statistics: expected names and values, got {statistics!r}")
    for name in {"mean", "std", *statistics}:
        values = _of(statistics, name)
        if not isinstance(values, list) or len(values) != width:
            raise DataError(f"statistics, {name}: expected {width} numbers, one a column")
        if not all(_is_number(value) and abs(value) < 1e300 for value in values):
            raise DataError(f"statistics, {name}: expected finite numbers")
    if not all(value > 0.0 for value in statistics["std"]):
        raise DataError("statistics, std: expected numbers above 0")
