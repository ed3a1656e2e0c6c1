"""The programs of benchmarks/ find their own modules as they do when they are run."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _folder(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
