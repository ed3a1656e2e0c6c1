"""Compare, what if, take away: a linear model of a known system, asked through the server."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from studio_log import ADDRESS, PORT, TOKEN, first_order

from prssm.data.io.files import read, write_columns
from prssm.evaluation.tasks.words import fit_words
from prssm.models.linear_ssm import LinearSSM
from prssm.prediction.metrics import evaluate
from prssm.studio.app import make_app
from prssm.studio.jobs.job import DONE
from prssm.studio.jobs.tasks import settings_of, task_of
from prssm.studio.settings import StudioSettings
from prssm.studio.studio import Studio

MODEL = "linear-1"
ROWS = {"models": [MODEL], "log": "log-1", "begin": 280, "end": 400}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One log and one model of it, as a finished job leaves them."""
    folder = tmp_path_factory.mktemp("studio")
    log = write_columns(folder / "plant.csv", first_order())
    made = Studio(StudioSettings(data=(str(log),), project=folder / "project"))
    record = read(log)
    model = LinearSSM(order=1, starts=1, random_starts=0).fit(record[:280])
    model.save(made.folder / "models" / f"{MODEL}.prssm")
    one = made.logs.one("log-1")
    task = task_of({"method": "linear", "options": {"order": "1"}}, one, made.selection(one))
    words = fit_words(settings_of(task, made.logs, f"models/{MODEL}.prssm"))
    made.jobs._keep(made.jobs.add(MODEL, words[1:], task).changed(state=DONE))
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(studio: Studio) -> TestClient:
    client = TestClient(make_app(studio, token=TOKEN, port=PORT), base_url=ADDRESS)
    client.get(f"/?token={TOKEN}")
    client.headers["origin"] = ADDRESS
    return client


def text_of(table: dict, row: int, title: str) -> str:
    column = [cell["text"] for cell in table["header"]].index(title)
    return table["rows"][row][column]["text"]


def test_the_runs_are_the_library_s(client: TestClient, studio: Studio) -> None:
    found = client.post("/api/compare/runs", json=ROWS).json()
    model = studio.models.one(MODEL)
    record = read(studio.logs.path(studio.logs.one("log-1")))[280:400]
    expected = model.evaluate(record)
    assert text_of(found["table"], 0, "RMSE") == f"{expected['rmse']:.4g}"
    assert len(found["figures"]) == 1


def test_rows_ahead_are_the_library_s(client: TestClient, studio: Studio) -> None:
    found = client.post("/api/compare/runs", json={**ROWS, "horizon": 3}).json()
    model = studio.models.one(MODEL)
    record = read(studio.logs.path(studio.logs.one("log-1")))[280:400]
    expected = evaluate([model.predict(record, horizon=3)], model.scaler_.y_std)
    assert text_of(found["table"], 0, "RMSE") == f"{expected['rmse']:.4g}"


@pytest.mark.parametrize("view", ["residuals", "states", "slices"])
def test_every_view_has_a_figure(client: TestClient, view: str) -> None:
    found = client.post(f"/api/compare/{view}", json=ROWS).json()
    assert found["figures"][0]["figure"]["doc"]["roots"]


@pytest.mark.parametrize(("held_out", "label"), [(True, "test RMSE"), (False, "training RMSE")])
def test_the_curve_of_errors_says_on_which_rows_they_are(
    studio: Studio, client: TestClient, monkeypatch, held_out: bool, label: str
) -> None:
    history = ({"seconds": 1.0, "rmse": 0.5}, {"seconds": 2.0, "rmse": 0.4})
    job = studio.jobs.one(MODEL)
    rows = replace(studio.judge.rows(job), held_out=held_out)
    monkeypatch.setattr(studio.judge, "rows", lambda job: rows)
    monkeypatch.setattr(studio.jobs, "one", lambda id_: job.changed(history=history))
    drawn = client.get(f"/api/jobs/{MODEL}/picture").json()["figures"]["errors"]
    assert f'"{label}"' in json.dumps(drawn)
    assert "held-out" not in json.dumps(drawn)


@pytest.mark.parametrize("kind", ["step", "impulse", "static", "poles"])
def test_every_response_has_a_figure(client: TestClient, kind: str) -> None:
    found = client.post("/api/compare/behaviour", json={"models": [MODEL], "kind": kind}).json()
    assert len(found["figures"]) == 1
    assert found["lines"] == []


@pytest.mark.parametrize(("kind", "lines"), [("step", 1), ("impulse", 1), ("static", 0)])
def test_responses_name_the_dead_time_that_they_leave_out(
    studio: Studio, client: TestClient, kind: str, lines: int
) -> None:
    record = read(studio.logs.path(studio.logs.one("log-1")))
    model = LinearSSM(order=1, starts=1, random_starts=0)
    model.fit(record[:280], preprocess=[f"delay={record.input_names[0]}:2"])
    path = model.save(studio.folder / "models" / "late.prssm")
    asked = {"models": ["late"], "kind": kind}
    found = client.post("/api/compare/behaviour", json=asked).json()
    path.unlink()
    told = [line["text"] for line in found["lines"]]
    assert len(told) == lines
    assert all(f"later than drawn, by 2 rows for {record.input_names[0]}." in text for text in told)


def test_no_figure_holds_a_script(client: TestClient) -> None:
    for path, more in (("runs", {}), ("slices", {}), ("behaviour", {"kind": "static"})):
        text = client.post(f"/api/compare/{path}", json={**ROWS, **more}).text
        assert "CustomJS" not in text


@pytest.mark.parametrize(
    "wrong",
    [
        {"models": []},
        {"models": "linear-1"},
        {"models": ["../../etc/passwd"]},
        {"log": "log-9"},
        {"begin": 390, "end": 380},
        {"begin": "x"},
        {"horizon": 0},
        {"begin": 399, "end": 400},
    ],
)
def test_a_wrong_question_is_one_line(client: TestClient, wrong: dict) -> None:
    answer = client.post("/api/compare/runs", json={**ROWS, **wrong})
    lines = [line["text"] for line in answer.json().get("lines", [])] or [answer.json()["error"]]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert "bug" not in lines[0]


def test_a_model_that_cannot_does_not_spoil_the_others(client: TestClient, studio: Studio) -> None:
    (studio.folder / "models" / "broken.prssm").write_bytes(b"no model")
    both = {**ROWS, "models": ["broken", MODEL]}
    found = client.post("/api/compare/runs", json=both).json()
    assert [row[0]["text"] for row in found["table"]["rows"]] == [MODEL]
    assert found["lines"][0]["text"].startswith("broken: ")
    (studio.folder / "models" / "broken.prssm").unlink()


def test_what_if_is_the_free_run_over_the_typed_input(client: TestClient, studio: Studio) -> None:
    shape = {"kind": "step", "before": 0.0, "after": 1.0, "at": 30}
    question = {"models": [MODEL], "rows": 200, "inputs": {"u": shape}}
    found = client.post("/api/what-if", json=question).json()
    assert len(found["figures"]) == 1
    text = client.post("/api/what-if.csv", json=question).text
    rows = np.array(list(csv.reader(io.StringIO(text)))[1:], dtype=float)
    np.testing.assert_array_equal(rows[:, 1], np.repeat([0.0, 1.0], [30, 170]))
    np.testing.assert_allclose(np.diff(rows[:, 0]), 0.1)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 1},
        {"rows": 10**9},
        {"inputs": {}},
        {"inputs": {"u": {"kind": "spiral"}}},
        {"inputs": {"u": {"kind": "values", "values": "1, two"}}},
        {"inputs": {"u": {"kind": "points", "points": [[0]]}}},
        {"inputs": {"u": {"kind": "sine", "mean": 0, "amplitude": 1, "period": 0}}},
        {"inputs": {"u": {"kind": "step", "before": 0, "after": "x", "at": 3}}},
    ],
)
def test_a_wrong_input_is_one_line(client: TestClient, change: dict) -> None:
    question = {"models": [MODEL], "rows": 50, "inputs": {"u": {"kind": "values", "values": "1"}}}
    found = client.post("/api/what-if", json={**question, **change}).json()
    lines = [line["text"] for line in found.get("lines", [])] or [found["error"]]
    assert len(lines) == 1
    assert "\n" not in lines[0]


def test_what_one_takes_away_is_whole(client: TestClient, studio: Studio, tmp_path: Path) -> None:
    about = client.get(f"/api/models/{MODEL}").json()
    assert about["command"].startswith("prssm fit ")
    assert "--rows=0:280" in about["command"]
    assert "--test-rows=280:400" in about["command"]
    compile(about["script"], "script.py", "exec")
    file = client.get(f"/api/models/{MODEL}/file")
    assert file.content == studio.models.path(MODEL).read_bytes()
    assert file.headers["content-disposition"].startswith("attachment")
    table = client.post("/api/scores.csv", json=ROWS).text
    assert table.splitlines()[1].startswith(f"{MODEL},")


def test_an_export_is_one_file(client: TestClient) -> None:
    found = client.post(f"/api/models/{MODEL}/export", json={"to": "c"}).json()
    packed = client.get(f"/api/exports/{found['name']}").content
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert any(name.endswith(".c") for name in names)
    wrong = client.post(f"/api/models/{MODEL}/export", json={"to": "cobol"})
    assert wrong.status_code == 422
    assert client.get("/api/exports/..%2Fmodels%2Flinear-1.prssm").status_code in (404, 422)


def test_the_script_does_what_it_says(
    studio: Studio, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is run in the project folder."""
    monkeypatch.chdir(studio.folder)
    script = client.get(f"/api/models/{MODEL}").json()["script"]
    names: dict = {}
    exec(compile(script.replace("linear-1", "again"), "script.py", "exec"), names)
    assert [len(part) for part in names["train"]] == [280]
    assert [len(part) for part in names["test"]] == [120]
    (studio.folder / "models" / "again.prssm").unlink()


def test_a_report_runs_alone(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with scripts of its own is served as a stranger to the studio."""
    monkeypatch.setattr("prssm.studio.exports.write_report", _written)
    assert client.get(f"/api/models/{MODEL}/report").status_code == 422
    assert client.post(f"/api/models/{MODEL}/report").json()["file"] == "reports/linear-1.html"
    shown = client.get(f"/api/models/{MODEL}/report")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in shown.headers["content-security-policy"]


def _written(path: Path, *about: object, **more: object) -> Path:
    path.write_text("<p>report</p>", encoding="utf-8")
    return path
