"""Who may talk to the studio, and what its answers forbid."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from studio_log import ADDRESS, PORT, TOKEN

from prssm.foundation.errors import DataError, OptionError
from prssm.foundation.locks import alone
from prssm.studio.app import make_app
from prssm.studio.server import LOCK, serve
from prssm.studio.settings import StudioSettings
from prssm.studio.studio import Studio


@pytest.fixture
def stranger(studio: Studio) -> TestClient:
    """A client without the secret word."""
    return TestClient(make_app(studio, token=TOKEN, port=PORT), base_url=ADDRESS)


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/events", "/page/main.js", "/?token=no"])
def test_nothing_is_told_without_the_secret_word(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "prssm studio" in answer.text


def test_the_word_in_the_address_becomes_a_cookie_that_scripts_cannot_read(
    stranger: TestClient,
) -> None:
    answer = stranger.get(f"/?token={TOKEN}")
    rules = answer.headers["set-cookie"]
    assert answer.status_code == 200
    assert "HttpOnly" in rules
    assert "SameSite=Strict" in rules
    assert stranger.get("/api/state").status_code == 200


def test_the_word_opens_the_page_only(stranger: TestClient) -> None:
    assert stranger.get(f"/api/state?token={TOKEN}").status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", "", "[::1]:x"]
)
def test_a_foreign_name_that_points_here_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/state", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"[::1]:{PORT}", f"127.0.0.1:{PORT}"])
def test_our_own_names_are_answered(client: TestClient, host: str) -> None:
    headers = {"host": host, "origin": f"http://{host}"}
    cookie = {"cookie": f"prssm_studio_{PORT}={TOKEN}"}
    assert client.get("/api/state", headers=headers | cookie).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", f"https://127.0.0.1:{PORT}", "null", "http://127.0.0.1:1"]
)
def test_another_sites_page_is_refused(client: TestClient, origin: str) -> None:
    assert client.get("/api/state", headers={"origin": origin}).status_code == 403
    assert client.post("/api/jobs", json={}, headers={"origin": origin}).status_code == 403


def test_a_change_must_say_where_it_comes_from(client: TestClient) -> None:
    del client.headers["origin"]
    assert client.post("/api/jobs", json={}).status_code == 403


def test_a_request_that_the_browser_calls_cross_site_is_refused(client: TestClient) -> None:
    for site in ("cross-site", "same-site"):
        assert client.get("/api/state", headers={"sec-fetch-site": site}).status_code == 403


def test_every_answer_forbids_foreign_and_inline_scripts(client: TestClient) -> None:
    for path in ("/", "/api/state", "/page/main.js", "/bokeh/bokeh.min.js", "/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "path", ["/page/../studio.py", "/page/%2e%2e/studio.py", "/page//etc/passwd"]
)
def test_the_page_s_files_are_all_that_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "::", "example.org"])
def test_other_machines_need_an_explicit_word(host: str) -> None:
    with pytest.raises(OptionError, match="--allow-remote"):
        StudioSettings(host=host)
    StudioSettings(host=host, allow_remote=True)


def test_this_machine_needs_none() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        StudioSettings(host=host)


def test_a_project_has_one_studio_and_a_wrong_log_leaves_no_folder(tmp_path: Path) -> None:
    settings = StudioSettings(project=tmp_path / "project")
    with alone(settings.project / LOCK), pytest.raises(OptionError, match="another studio"):
        serve(settings, browser=False, say=print)
    wrong = StudioSettings(data=(str(tmp_path / "no.csv"),), project=tmp_path / "other")
    with pytest.raises(DataError, match="no such file"):
        serve(wrong, browser=False, say=print)
    assert not (tmp_path / "other").exists()
