"""Fixtures that all rooms share."""

import os
from pathlib import Path

import frugal

frugal.ask()  # before NumPy and JAX are imported

import jaxtyping  # noqa: E402
import pytest  # noqa: E402

# The shapes that annotations of the numerical rooms promise are checked in every call. Set before
# these rooms are imported.
CHECKED = ("prssm.gp", "prssm.dynamics", "prssm.linear", "prssm.models", "prssm.training")
jaxtyping.install_import_hook(CHECKED, "shape_checks.shapes_only")

NEEDED = ("actuator.mat", "ballbeam.dat", "drive.mat", "gas_furnace.csv", "dryer.dat")


@pytest.fixture
def unchecked_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that hand in what the annotations do not allow."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of public recordings; tests that ask for it are skipped, with the reason, where it
    is not there.
    """
    folder = os.environ.get("PRSSM_DATA")
    if not folder:
        pytest.skip("needs the public recordings: set PRSSM_DATA to their folder")
    missing = [name for name in NEEDED if not (Path(folder) / name).is_file()]
    if missing:
        pytest.skip(
            f"needs the public recordings: PRSSM_DATA={folder} does not hold {', '.join(missing)}"
        )
    return Path(folder)
