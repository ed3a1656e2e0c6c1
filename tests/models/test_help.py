import inspect

import pytest

import prssm
from prssm.models.registry import METHODS, method


@pytest.mark.parametrize("name", METHODS)
def test_help_shows_the_default_preset_and_every_meaning(name) -> None:
    kind = method(name)
    usual = kind.PRESETS["default"]
    parameters = inspect.signature(kind).parameters
    for option in usual.names():
        assert parameters[option].default == getattr(usual, option)
        meaning = usual.__dataclass_fields__[option].metadata["help"]
        assert f"    {option} = {getattr(usual, option)!r}: {meaning}" in kind.__doc__


def test_the_signature_is_what_an_estimator_has() -> None:
    parameters = inspect.signature(prssm.PRSSM).parameters
    params = prssm.PRSSM().get_params()
    assert {name: parameters[name].default for name in params} == params
