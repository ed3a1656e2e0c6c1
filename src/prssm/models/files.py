"""A fitted model to a file and back."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.domain import Domain
from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.record import LONGEST_STEP
from prssm.data.scaling import Scaler
from prssm.foundation import storage
from prssm.foundation.errors import ModelFileError, OptionError
from prssm.foundation.precision import double_precision
from prssm.models.estimator import Estimator
from prssm.models.registry import METHODS, method
from prssm.models.stored_arrays import Shape, check, check_numbers, whole_number
from prssm.prediction.seen import Seen

_SCALER: dict[str, Shape] = {
    "u_mean": ("u",),
    "u_std": ("u",),
    "y_mean": ("y",),
    "y_std": ("y",),
}
_SEEN: dict[str, Shape] = {
    "points": ("points", "axes"),
    "centre": ("columns",),
    "axes": ("columns", "axes"),
    "limit": (),
    "input_range": (2, "u"),
    "output_range": (2, "y"),
}
_MOST_ROWS = 1_000_000  # that one step of a model may take


def save_model(model: Estimator, path: str | os.PathLike[str]) -> Path:
    values, arrays = model._state()
    header = {
        "method": type(model).name,
        "preset": model.preset,
        "options": model.config.to_dict(),
        "inputs": list(model.input_names_),
        "outputs": list(model.output_names_),
        "dt": model.dt_,
        "stride": model.stride_,
        "domain": model.domain_.to_dict(),
        "preprocessing": model.preprocessing_.to_list(),
        "learnt": values,
    }
    parts = {"scaler": model.scaler_.to_arrays(), "learnt": arrays}
    if model.seen_ is not None:
        parts["seen"] = model.seen_.to_arrays()
    named = {f"{part}.{name}": array for part in parts for name, array in parts[part].items()}
    return storage.write(path, "model", header, named)


def load(path: str | os.PathLike[str], **options: Any) -> Estimator:
    """A model from its file.

    Options that were Python callables (a kernel, an emission) are passed again here.
    """
    header, arrays = storage.read(path, "model")
    try:
        return _restored(header, arrays, options)
    except (ModelFileError, KeyError, TypeError, OptionError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
    # what a damaged description can lead to further on: lengths below 0, memory, recursion
    except (ValueError, ArithmeticError, LookupError, AttributeError, MemoryError) as error:
        why = f"{type(error).__name__}: {error}"
    raise ModelFileError(
        f"{path}: its description is incomplete or does not fit this version: {why}"
    ) from None


def _restored(
    header: dict[str, Any], arrays: dict[str, np.ndarray], options: dict[str, Any]
) -> Estimator:
    """The model that a file describes; every part is checked before it is used."""
    _check_header(header)
    kind = method(header["method"])
    model = kind(header["preset"], **(_stored_options(header["options"], options) | options))
    model.input_names_ = tuple(header["inputs"])
    model.output_names_ = tuple(header["outputs"])
    model.dt_ = header["dt"]
    model.stride_ = header.get("stride", 1)
    model.domain_ = _domain(
        header.get("domain") or {}, len(model.input_names_), len(model.output_names_)
    )
    model.preprocessing_ = Preprocessing.from_list(
        header.get("preprocessing") or [], model.input_names_, model.output_names_
    )
    check_numbers(arrays, but="learnt.training.")
    scaler = _under("scaler.", arrays)
    check(scaler, _SCALER, u=len(model.input_names_), y=len(model.output_names_))
    model.scaler_ = Scaler.from_arrays(scaler)
    if not all((std > 0.0).all() for std in (model.scaler_.u_std, model.scaler_.y_std)):
        raise ModelFileError("a deviation of the training data is not above 0")
    seen = _under("seen.", arrays)
    if seen:
        check(seen, _SEEN, u=len(model.input_names_), y=len(model.output_names_))
    model.seen_ = Seen.from_arrays(seen)
    with double_precision():
        model._restore(header["learnt"], _under("learnt.", arrays))
    return model


def _domain(values: Any, inputs: int, outputs: int) -> Domain:
    """What the training data covered; ranges are a lowest and a highest value for each column."""
    if not isinstance(values, dict):
        raise ModelFileError(f"domain: expected names and values, got {values!r}")
    domain = Domain.from_dict(values)
    for name, limits, columns in (
        ("inputs", domain.input_range, inputs),
        ("outputs", domain.output_range, outputs),
    ):
        if limits is not None and not (limits.shape == (2, columns) and np.isfinite(limits).all()):
            raise ModelFileError(f"domain, {name}: expected two rows of {columns} numbers")
    time = values.get("time")
    units = values.get("units") or {}
    is_named = isinstance(units, dict) and all(isinstance(unit, str) for unit in units.values())
    if not is_named or not (time is None or isinstance(time, str)):
        raise ModelFileError("domain: expected texts for the time column and the units")
    return domain


def _check_header(header: dict[str, Any]) -> None:
    """Types and ranges of what a file says of its model."""
    if header["method"] not in list(METHODS):
        raise ModelFileError(f"method {header['method']!r} is not known to this version of prssm")
    for name in ("inputs", "outputs"):
        names = header[name]
        is_list = isinstance(names, list) and all(isinstance(each, str) and each for each in names)
        if not is_list or len(set(names)) < len(names):
            raise ModelFileError(f"{name}: expected a list of different names, got {names!r}")
    if not header["outputs"]:
        raise ModelFileError("outputs: expected at least one name, got none")
    for name in ("options", "learnt"):
        if not isinstance(header[name], dict):
            raise ModelFileError(f"{name}: expected names and values, got {header[name]!r}")
    dt = header["dt"]
    is_number = isinstance(dt, int | float) and not isinstance(dt, bool)
    if dt is not None and not (is_number and 0.0 < dt < LONGEST_STEP):
        raise ModelFileError(f"dt: expected a number of seconds above 0 or nothing, got {dt!r}")
    whole_number({"stride": 1, **header}, "stride", least=1, most=_MOST_ROWS)


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _stored_options(stored: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    callables = [
        name for name, value in stored.items() if isinstance(value, str) and value.startswith("<")
    ]
    missing = [name for name in callables if name not in given]
    if missing:
        raise ModelFileError(
            f"option {missing[0]!r} was the Python object {stored[missing[0]]}; "
            f"pass it again: prssm.load(path, {missing[0]}=...)"
        )
    return {name: value for name, value in stored.items() if name not in callables}
