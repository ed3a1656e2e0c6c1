"""Logs: what is loaded, shown and kept; and rubbish, which is refused in one line."""

import base64
import json
import time
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from prssm.studio.figures.windows import MOST, window
from prssm.studio.settings import StudioSettings
from prssm.studio.studio import Studio


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f8")


def send(client: TestClient, name: str, content: bytes) -> dict:
    answer = client.post("/api/logs", content=content, headers={"x-file-name": name})
    return {"code": answer.status_code, **answer.json()}


def test_a_log_shows_its_columns_and_the_usual_choice(client: TestClient) -> None:
    log = client.get("/api/logs/log-1").json()
    assert [column["name"] for column in log["columns"]] == ["time", "u", "y"]
    assert log["rows"] == 400
    assert log["choice"]["inputs"] == ["u"]
    assert log["choice"]["outputs"] == ["y"]
    assert log["choice"]["time"] == "time"
    assert log["choice"]["training"] == [[0, 280]]
    assert log["choice"]["test"] == [[280, 400]]


def test_a_choice_is_kept_and_outlives_the_server(client: TestClient, studio: Studio) -> None:
    choice = {"inputs": ["u"], "outputs": ["y"], "time": "time", "training": [[10, 200]]}
    assert client.put("/api/logs/log-1/choice", json=choice).json()["training"] == [[10, 200]]
    again = Studio(StudioSettings(project=studio.folder))
    assert again.selection(again.logs.one("log-1")).training == ((10, 200),)
    again.close()


@pytest.mark.parametrize(
    "choice",
    [
        {"training": [[5, 5]]},
        {"training": [[-1, 5]]},
        {"training": [["a", 5]]},
        {"training": 3},
        {"inputs": "u"},
        {"inputs": [1]},
        {"dt": "soon"},
        {"time": 5},
        {"nonsense": 1},
    ],
)
def test_a_wrong_choice_is_one_line(client: TestClient, choice: dict) -> None:
    answer = client.put("/api/logs/log-1/choice", json=choice)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["error"]


def test_an_upload_gets_a_name_of_ours(client: TestClient, studio: Studio) -> None:
    found = send(client, "..%2F..%2Fevil%20log.CSV", b"time,u,y\n0,1,2\n1,2,3\n2,3,4\n")
    assert found["name"] == "../../evil log.CSV"
    assert found["file"] == "logs/log-2.csv"
    assert (studio.folder / "logs" / "log-2.csv").is_file()
    assert sorted(path.name for path in studio.folder.parent.iterdir()) == ["plant.csv", "project"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.exe", b"u,y\n1,2\n"),
        ("a", b"u,y\n1,2\n"),
        ("a.csv", b""),
        ("a.mat", b"not a mat file"),
        ("a.parquet", b"PAR1"),
        ("a.zip", b"PK"),
        ("a.csv.gz", b"no"),
    ],
)
def test_rubbish_is_refused_and_leaves_nothing(
    client: TestClient, studio: Studio, name: str, content: bytes
) -> None:
    found = send(client, name, content)
    assert found["code"] == 422
    assert found["error"].startswith(name)
    assert str(studio.folder) not in found["error"]
    assert [path.name for path in (studio.folder / "logs").iterdir()] == ["log-1.json"]


def test_an_upload_is_limited(client: TestClient, studio: Studio) -> None:
    found = send(client, "long.csv", b"u,y\n" + b"1,2\n" * 20_000)
    assert found["code"] == 422
    assert "0.05 MB" in found["error"]
    assert not list((studio.folder / "logs").glob("log-2*"))


def test_hostile_column_names_are_only_text(client: TestClient) -> None:
    names = ["<img src=x onerror=alert(1)>", "$$\\frac{a}{b}$$", "'; DROP TABLE", "a,b"]
    head = ",".join(f'"{name}"' for name in names)
    log = send(client, "x.csv", f"{head}\n1,2,3,4\n2,3,4,6\n5,6,7,9\n".encode())
    about = client.get(f"/api/logs/{log['id']}").json()
    assert [column["name"] for column in about["columns"]] == names
    picture = client.get(f"/api/logs/{log['id']}/picture?columns=0,1,2,3").text
    # a label is a PlainText of Bokeh: drawn as it is, and never read as HTML or TeX
    assert picture.count('"PlainText"') >= 8


def test_the_window_keeps_every_peak() -> None:
    rows = 100_000
    values = np.zeros(rows)
    values[[12_345, 77_777]] = [5.0, -7.0]
    found = window({"a": values, "b": np.arange(rows, dtype=float)}, 0, rows)
    assert len(found["row"]) <= MOST + 2
    assert found["a"].max() == 5.0
    assert found["a"].min() == -7.0
    np.testing.assert_array_equal(found["b"], found["row"])


def test_a_small_window_is_exact(client: TestClient) -> None:
    found = client.get("/api/logs/log-1/rows?columns=1,2&begin=100&end=120").json()
    row = numbers(found["row"])
    np.testing.assert_array_equal(row, np.arange(99, 121))
    about = np.loadtxt(client.app.state.studio.logs.one("log-1").file, delimiter=",", skiprows=1)
    np.testing.assert_allclose(numbers(found["c2"]), about[99:121, 2])


@pytest.mark.parametrize(
    "query", ["columns=9&begin=0&end=1", "columns=x&begin=0&end=1", "columns=1&begin=a&end=1"]
)
def test_a_wrong_window_is_one_line(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/logs/log-1/rows?{query}")
    assert answer.status_code in (404, 422)
    assert "\n" not in answer.json()["error"]


def test_a_window_beyond_the_rows_is_empty(client: TestClient) -> None:
    found = client.get("/api/logs/log-1/rows?columns=1&begin=9000&end=9900").json()
    assert len(numbers(found["row"])) == 0


def test_advice_comes_from_the_library(client: TestClient, studio: Studio) -> None:
    rows = "".join(f"{i},{(i % 7) / 3:.4f},{i % 5}\n" for i in range(200))
    log = send(client, "coarse.csv", f"time,u,y\n{rows}".encode())
    lines = client.get(f"/api/logs/{log['id']}/advice").json()["lines"]
    assert any("levels only" in line["text"] for line in lines)


def test_a_log_can_be_removed_and_a_file_elsewhere_stays(
    client: TestClient, studio: Studio, log: Path
) -> None:
    assert client.delete("/api/logs/log-1").status_code == 200
    assert client.get("/api/logs/log-1").status_code == 404
    assert log.is_file()


def test_a_spoilt_note_is_left_out(client: TestClient, studio: Studio) -> None:
    (studio.folder / "logs" / "log-7.json").write_text("{", encoding="utf-8")
    (studio.folder / "logs" / "log-8.json").write_text(json.dumps([1]), encoding="utf-8")
    assert [one["id"] for one in client.get("/api/state").json()["logs"]] == ["log-1"]


def test_rows_of_a_long_log_come_quickly() -> None:
    """The window of six columns of 100,000 rows; a zoom may take 100 ms, all in all."""
    series = {f"c{i}": np.random.default_rng(i).normal(size=100_000) for i in range(6)}
    window(series, 0, 100_000)
    begun = time.process_time()
    for begin in range(0, 50_000, 10_000):
        window(series, begin, 100_000)
    assert (time.process_time() - begun) / 5 < 0.2
