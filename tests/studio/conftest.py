"""A studio on a small project, and a client that has its secret word."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from studio_log import ADDRESS, PORT, TOKEN, first_order

from prssm.data.io.files import write_columns
from prssm.studio.app import make_app
from prssm.studio.settings import StudioSettings
from prssm.studio.studio import Studio


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_columns(tmp_path / "plant.csv", first_order())


@pytest.fixture
def studio(tmp_path: Path, log: Path) -> Iterator[Studio]:
    made = Studio(StudioSettings(data=(str(log),), project=tmp_path / "project", upload=0.05))
    yield made
    made.close()


@pytest.fixture
def client(studio: Studio) -> Iterator[TestClient]:
    """A page that was opened with the address that the studio has printed."""
    client = TestClient(make_app(studio, token=TOKEN, port=PORT), base_url=ADDRESS)
    assert client.get(f"/?token={TOKEN}").status_code == 200
    client.headers["origin"] = ADDRESS
    return client
