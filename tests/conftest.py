"""Fixtures that all rooms share."""

import os
from pathlib import Path

import pytest

# Tests compile much and compute little: let XLA skip what only pays in long runs. Set before JAX is
# imported.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

NEEDED = ("actuator.mat", "ballbeam.dat", "drive.mat", "gas_furnace.csv", "dryer.dat")


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
