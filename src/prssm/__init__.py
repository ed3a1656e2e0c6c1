"""Learn a simulator with honest error bars from the logs of a dynamical system.

    log = prssm.read("log.csv", inputs=["valve"], outputs=["pressure"])
    model = prssm.PRSSM().fit(log[:1000])
    model.simulate(log[1000:]).plot()

A new public name is two lines here: an import, which editors and type checkers read, and an entry
of `_HOMES`, by which the name is loaded when it is first used. A test compares the two.
"""

import importlib
from typing import TYPE_CHECKING, Any

from prssm.foundation.version import __version__

if TYPE_CHECKING:
    from prssm.data.advice.advise import advise
    from prssm.data.advice.note import Note
    from prssm.data.io.files import read
    from prssm.data.preprocessing.preview import preview
    from prssm.data.record import Record
    from prssm.data.sets import catalogue as datasets
    from prssm.data.splits import TimeSplit
    from prssm.data.stream.convert import convert
    from prssm.data.stream.stream import Stream
    from prssm.evaluation.search.search import search
    from prssm.export.casadi.as_casadi import as_casadi
    from prssm.export.gym.env import env
    from prssm.export.targets import export
    from prssm.foundation.errors import (
        DataError,
        MissingExtraError,
        ModelFileError,
        NotFittedError,
        OptionError,
        ProcessError,
        PrssmError,
        PrssmWarning,
        TrainingError,
        TrainingInterrupted,
        WriteError,
    )
    from prssm.inference.observer import Observer
    from prssm.models.constant import Constant
    from prssm.models.files import load
    from prssm.models.linear_ssm import LinearSSM
    from prssm.models.narx.gp_narx import GPNARX
    from prssm.models.narx.msgp import MSGP
    from prssm.models.narx.nigp import NIGP
    from prssm.models.prssm.estimator import PRSSM
    from prssm.models.revarb.estimator import REVARB
    from prssm.models.ssgpssm.estimator import SSGPSSM
    from prssm.prediction.estimate import Estimate
    from prssm.prediction.prediction import Prediction
    from prssm.prediction.residuals import Residuals

__all__ = [
    "GPNARX",
    "MSGP",
    "NIGP",
    "PRSSM",
    "REVARB",
    "SSGPSSM",
    "Constant",
    "DataError",
    "Estimate",
    "LinearSSM",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "Note",
    "Observer",
    "OptionError",
    "Prediction",
    "ProcessError",
    "PrssmError",
    "PrssmWarning",
    "Record",
    "Residuals",
    "Stream",
    "TimeSplit",
    "TrainingError",
    "TrainingInterrupted",
    "WriteError",
    "__version__",
    "advise",
    "as_casadi",
    "convert",
    "datasets",
    "env",
    "export",
    "load",
    "preview",
    "read",
    "search",
]

_ERRORS = "prssm.foundation.errors"
# where each public name lives
_HOMES = {
    "Constant": "prssm.models.constant",
    "DataError": _ERRORS,
    "Estimate": "prssm.prediction.estimate",
    "GPNARX": "prssm.models.narx.gp_narx",
    "LinearSSM": "prssm.models.linear_ssm",
    "MSGP": "prssm.models.narx.msgp",
    "MissingExtraError": _ERRORS,
    "ModelFileError": _ERRORS,
    "NIGP": "prssm.models.narx.nigp",
    "NotFittedError": _ERRORS,
    "Note": "prssm.data.advice.note",
    "Observer": "prssm.inference.observer",
    "OptionError": _ERRORS,
    "PRSSM": "prssm.models.prssm.estimator",
    "Prediction": "prssm.prediction.prediction",
    "ProcessError": _ERRORS,
    "PrssmError": _ERRORS,
    "PrssmWarning": _ERRORS,
    "REVARB": "prssm.models.revarb.estimator",
    "Record": "prssm.data.record",
    "Residuals": "prssm.prediction.residuals",
    "SSGPSSM": "prssm.models.ssgpssm.estimator",
    "Stream": "prssm.data.stream.stream",
    "TimeSplit": "prssm.data.splits",
    "TrainingError": _ERRORS,
    "TrainingInterrupted": _ERRORS,
    "WriteError": _ERRORS,
    "advise": "prssm.data.advice.advise",
    "as_casadi": "prssm.export.casadi.as_casadi",
    "convert": "prssm.data.stream.convert",
    "datasets": "prssm.data.sets.catalogue",
    "export": "prssm.export.targets",
    "env": "prssm.export.gym.env",
    "load": "prssm.models.files",
    "preview": "prssm.data.preprocessing.preview",
    "read": "prssm.data.io.files",
    "search": "prssm.evaluation.search.search",
}

# Hidden from type checkers: they would take it to mean that every name exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Public names are imported when first used.

        So `prssm --help` does not wait for JAX.
        """
        if name not in _HOMES:
            raise AttributeError(f"module 'prssm' has no attribute {name!r}")
        home = importlib.import_module(_HOMES[name])
        return home if name == "datasets" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
