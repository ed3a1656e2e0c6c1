"""A fitted model to a file and back."""

import os
from pathlib import Path
from typing import Any

from prssm.data.domain import Domain
from prssm.data.scaling import Scaler
from prssm.foundation import storage
from prssm.foundation.errors import ModelFileError, OptionError
from prssm.foundation.precision import double_precision
from prssm.models.estimator import Estimator
from prssm.models.registry import METHODS, method


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
        "learnt": values,
    }
    scaler = {f"scaler.{name}": array for name, array in model.scaler_.to_arrays().items()}
    return storage.write(
        path, "model", header, scaler | {f"learnt.{name}": array for name, array in arrays.items()}
    )


def load(path: str | os.PathLike[str], **options: Any) -> Estimator:
    """A model from its file.

    Options that were Python callables (a kernel, an emission) are passed again here.
    """
    header, arrays = storage.read(path, "model")
    try:
        if header["method"] not in METHODS:
            raise ModelFileError(
                f"{path}: method {header['method']!r} is not known to this version of prssm"
            )
        kind = method(header["method"])
        model = kind(
            header["preset"], **(_stored_options(header["options"], options, path) | options)
        )
        model.input_names_ = tuple(header["inputs"])
        model.output_names_ = tuple(header["outputs"])
        model.dt_ = header["dt"]
        model.stride_ = header.get("stride", 1)
        model.domain_ = Domain.from_dict(header.get("domain") or {})
        model.scaler_ = Scaler.from_arrays(_under("scaler.", arrays))
        with double_precision():
            model._restore(header["learnt"], _under("learnt.", arrays))
    except (KeyError, TypeError, OptionError) as error:
        raise ModelFileError(
            f"{path}: its description is incomplete or does not fit this version: {error}"
        ) from None
    return model


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _stored_options(stored: dict[str, Any], given: dict[str, Any], path: Any) -> dict[str, Any]:
    callables = [
        name for name, value in stored.items() if isinstance(value, str) and value.startswith("<")
    ]
    missing = [name for name in callables if name not in given]
    if missing:
        raise ModelFileError(
            f"{path}: option {missing[0]!r} was the Python object {stored[missing[0]]}; "
            f"pass it again: prssm.load(path, {missing[0]}=...)"
        )
    return {name: value for name, value in stored.items() if name not in callables}
