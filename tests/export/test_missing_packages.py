"""Without the package of a target, one line names the extra that brings it."""

import sys

import pytest
from fitted_models import random_prssm
from small_models import small_linear

import prssm
from prssm.export.casadi import target as casadi_target
from prssm.export.describing import describe
from prssm.export.onnx import target as onnx_target
from prssm.export.targets import ExportSettings


def without(monkeypatch, package, *ours):
    """As if the package were not installed, and nothing of ours had imported it yet."""
    monkeypatch.setitem(sys.modules, package, None)
    for name in ours:
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture(scope="module")
def model():
    return random_prssm()


def test_casadi(monkeypatch, model, tmp_path):
    without(monkeypatch, "casadi", "prssm.export.casadi.functions", "prssm.export.casadi.step")
    with pytest.raises(prssm.MissingExtraError, match=r"CasADi: pip install 'prssm\[casadi\]'"):
        prssm.as_casadi(model)
    with pytest.raises(prssm.MissingExtraError, match=r"CasADi: pip install 'prssm\[casadi\]'"):
        casadi_target.write(describe(model), tmp_path / "m", ExportSettings())


def test_onnx(monkeypatch, model, tmp_path):
    without(monkeypatch, "onnx", "prssm.export.onnx.graphs", "prssm.export.onnx.builder")
    with pytest.raises(prssm.MissingExtraError, match=r"ONNX: pip install 'prssm\[onnx\]'"):
        onnx_target.write(describe(model), tmp_path / "m", ExportSettings())


def test_gymnasium(monkeypatch, model):
    without(monkeypatch, "gymnasium", "prssm.export.gym.environments")
    with pytest.raises(prssm.MissingExtraError, match=r"Gymnasium: pip install 'prssm\[gym\]'"):
        prssm.env(model, lambda output, input: 0.0, 5)


def test_python_control(monkeypatch):
    without(monkeypatch, "control")
    near = small_linear().linearise()
    with pytest.raises(prssm.MissingExtraError, match=r"control: pip install 'prssm\[control\]'"):
        near.control()
