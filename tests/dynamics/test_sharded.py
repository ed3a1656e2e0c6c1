"""Split between devices, trajectories and gradients are what they are on one, for every engine and
any number of devices.
"""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
import split_values
from rollout_cases import need_native_library

import prssm
from prssm.foundation.errors import OptionError
from prssm.training.distributed.devices import everywhere, mesh_of


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    need_native_library()
    file = tmp_path_factory.mktemp("split") / "values.npz"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    subprocess.run(
        [sys.executable, split_values.__file__, file],
        env=os.environ | {"XLA_FLAGS": flags},
        check=True,
        timeout=300,
    )
    with np.load(file) as archive:
        return dict(archive)


@pytest.mark.parametrize(("engine", "devices"), split_values.SPLIT)
def test_value_and_gradient_do_not_depend_on_the_number_of_devices(computed, engine, devices):
    names = [name for name in computed if name.startswith("scan 1 ")]
    assert len(names) > 10
    for name in names:
        index = name.rsplit(" ", 1)[1]
        np.testing.assert_allclose(
            computed[f"{engine} {devices} {index}"], computed[name], rtol=1e-9, atol=1e-10
        )


def test_one_device_is_no_mesh():
    assert mesh_of(None) is None
    assert mesh_of(1) is None
    assert mesh_of("auto") is None
    tree = {"a": np.ones(2)}
    assert everywhere(tree, None) is tree


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (0, r"devices: expected 1 to 1, what JAX sees here \(cpu\), got 0"),
        (2, "got 2"),
        ("many", "or 'auto', got 'many'"),
        (True, "got True"),
    ],
)
def test_numbers_of_devices_that_cannot_be_meant(devices, message):
    with pytest.raises(OptionError, match=message):
        mesh_of(devices)


def test_methods_that_train_on_one_device_say_so(monkeypatch):
    monkeypatch.setattr(
        "prssm.training.session.mesh_of", lambda devices: jax.make_mesh((1,), ("a",))
    )
    with pytest.raises(OptionError, match="devices: constant trains on one device"):
        prssm.Constant().fit(prssm.Record(np.arange(9.0), np.arange(9.0)), devices=1)
