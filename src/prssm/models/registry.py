"""The methods by name. A new method is one new file and one line here; nothing is imported before it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from prssm.foundation.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from prssm.models.base import Estimator

METHODS = {
    "constant": "prssm.models.constant:Constant",
    "linear": "prssm.models.linear:LinearSSM",
    "prssm": "prssm.models.prssm:PRSSM",
    "gp-narx": "prssm.models.gp_narx:GPNARX",
    "nigp": "prssm.models.nigp:NIGP",
    "msgp": "prssm.models.msgp:MSGP",
    "revarb1": "prssm.models.revarb:REVARB",
    "revarb2": "prssm.models.revarb:REVARB2",
    "ss-gp-ssm": "prssm.models.ss_gp_ssm:SSGPSSM",
}


def method(name: str) -> type[Estimator]:
    """The estimator class behind a method's name."""
    if name not in METHODS:
        raise OptionError(f"unknown method {name!r}.{did_you_mean(name, METHODS)}")
    module, _, attribute = METHODS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
