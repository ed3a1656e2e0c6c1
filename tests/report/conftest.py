"""A page that several tests look at, written once."""

from pathlib import Path

import pytest
from evil_report import reported


@pytest.fixture(scope="session")
def explorable_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("bokeh", reason="needs the extra interactive")
    return reported(tmp_path_factory.mktemp("page") / "report.html", rows=300)
