"""The methods by name.

A new method is one new file and one line here; nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from prssm.foundation.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from prssm.models.estimator import Estimator

METHODS = {
    "constant": "prssm.models.constant:Constant",
    "linear": "prssm.models.linear_ssm:LinearSSM",
    "prssm": "prssm.models.prssm.estimator:PRSSM",
    "gp-narx": "prssm.models.narx.gp_narx:GPNARX",
    "nigp": "prssm.models.narx.nigp:NIGP",
    "msgp": "prssm.models.narx.msgp:MSGP",
    "revarb1": "prssm.models.revarb.estimator:REVARB",
    "revarb2": "prssm.models.revarb.estimator:REVARB2",
    "ss-gp-ssm": "prssm.models.ssgpssm.estimator:SSGPSSM",
}


def method(name: str) -> type[Estimator]:
    """The estimator class behind a method's name."""
    if name not in METHODS:
        raise OptionError(f"unknown method {name!r}.{did_you_mean(name, METHODS)}")
    module, _, attribute = METHODS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
