"""Learn a simulator with honest error bars from the logs of a dynamical system."""

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Record": "prssm.data.record",
    "Stream": "prssm.data.stream.stream",
    "Prediction": "prssm.prediction.prediction",
    "PRSSM": "prssm.models.prssm.estimator",
    "GPNARX": "prssm.models.narx.gp_narx",
    "NIGP": "prssm.models.narx.nigp",
    "MSGP": "prssm.models.narx.msgp",
    "REVARB": "prssm.models.revarb.estimator",
    "SSGPSSM": "prssm.models.ssgpssm.estimator",
    "LinearSSM": "prssm.models.linear_ssm",
    "Constant": "prssm.models.constant",
    "load": "prssm.models.files",
}
__all__ = ["__version__", "datasets", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `prssm --help` does not wait for JAX."""
    if name == "datasets":
        return importlib.import_module("prssm.data.sets.catalogue")
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'prssm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
