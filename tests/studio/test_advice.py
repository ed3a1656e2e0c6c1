"""Advice and preprocessing on the page: the library's words, before and after."""

import numpy as np
from starlette.testclient import TestClient

from prssm.data.advice.advise import notes_about
from prssm.data.io.files import read
from prssm.studio.studio import Studio


def spoilt(studio: Studio) -> np.ndarray:
    """The log with an output that is far away in three rows."""
    path = studio.logs.path(studio.logs.one("log-1"))
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    table[[50, 120, 200], 2] = 40.0
    np.savetxt(path, table, delimiter=",", header="time,u,y", comments="")
    return table


def test_advice_is_the_library_s_with_a_step_that_helps(client: TestClient, studio: Studio) -> None:
    spoilt(studio)
    lines = client.get("/api/logs/log-1/advice").json()["lines"]
    record = read(studio.logs.path(studio.logs.one("log-1")))
    expected = notes_about([record[:280]], [record[280:]])
    assert [line["text"] for line in lines] == [str(note) for note in expected]
    assert "outliers" in [line["step"].split("=")[0] for line in lines]


def test_advice_without_outputs_says_what_to_do(client: TestClient) -> None:
    client.put("/api/logs/log-1/choice", json={"inputs": ["u"]})
    (line,) = client.get("/api/logs/log-1/advice").json()["lines"]
    assert "output" in line["text"]


def test_a_log_that_cannot_be_read_so_is_advice_and_no_error(client: TestClient) -> None:
    client.put("/api/logs/log-1/choice", json={"outputs": ["y"], "time": "u"})
    answer = client.get("/api/logs/log-1/advice")
    assert answer.status_code == 200
    (line,) = answer.json()["lines"]
    assert line["kind"] == "bad"
    assert "plant.csv" in line["text"]


def test_steps_are_seen_before_they_are_kept(client: TestClient, studio: Studio) -> None:
    spoilt(studio)
    found = client.post("/api/logs/log-1/preview", json={"preprocess": ["outliers"]}).json()
    assert any("emptied" in note for note in found["notes"])
    assert found["figure"]["figure"]["doc"]["roots"]
    assert client.get("/api/logs/log-1").json()["choice"]["preprocess"] == []


def test_a_wrong_step_is_one_line(client: TestClient) -> None:
    for step in ("nonsense", "lowpass=-1Hz", "lowpass=900Hz"):
        answer = client.post("/api/logs/log-1/preview", json={"preprocess": [step]})
        assert answer.status_code == 422
        assert "\n" not in answer.json()["error"]
