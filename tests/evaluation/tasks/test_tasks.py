"""What a front end calls: settings in, results and files out, nothing printed."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import prssm
from prssm.data.io import text_files
from prssm.data.io.columns import FileColumns, FileWords
from prssm.data.io.files import write_columns
from prssm.evaluation.search.final import MODEL_FILE, OPTIONS_FILE
from prssm.evaluation.tasks import saved_model
from prssm.evaluation.tasks import search as searching
from prssm.evaluation.tasks.fit import fit
from prssm.evaluation.tasks.settings import (
    DataSettings,
    FitSettings,
    ProcessSettings,
    SavedModelSettings,
    SearchSettings,
)
from prssm.evaluation.tasks.sources import load_data
from prssm.foundation.errors import OptionError

U = np.sin(np.arange(80.0))
Y = np.cos(np.arange(80.0)) + 3.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log of inputs and outputs, and one of inputs alone."""
    monkeypatch.chdir(tmp_path)
    write_columns("log.csv", {"u": U, "y": Y})
    write_columns("inputs.csv", {"u": U})
    return tmp_path


@pytest.fixture(autouse=True)
def _silent(capfd: pytest.CaptureFixture[str]) -> object:
    """No task writes a word."""
    yield
    assert capfd.readouterr() == ("", "")


def constant(**changes: object) -> FitSettings:
    data = DataSettings(data=("log.csv",), split=0.75)
    return FitSettings(**({"data": data, "method": "constant"} | changes))


@pytest.mark.parametrize(("spent", "left"), [(0.0, 60.0), (20.0, 40.0), (90.0, 6.0)])
def test_a_budget_counts_from_where_the_command_began(monkeypatch, spent, left) -> None:
    seen = []
    trained = prssm.Constant.fit

    def noted(self, data, **how):
        seen.append(how["budget"])
        return trained(self, data, **how)

    monkeypatch.setattr(prssm.Constant, "fit", noted)
    fit(constant(out=Path("m.prssm"), budget=60.0), begun=time.monotonic() - spent)
    fit(constant(out=Path("m.prssm")))
    assert seen == [pytest.approx(left, abs=5.0), None]
    with pytest.raises(OptionError, match=r"budget: expected .* above 0, got -3.0"):
        fit(constant(out=Path("m.prssm"), budget=-3.0))


def test_a_fit_writes_the_model_and_returns_what_it_saw() -> None:
    fitted = fit(constant(out=Path("new/m.prssm"), options={"seed": "7"}))
    assert [len(record) for record in (*fitted.train, *fitted.test)] == [60, 20]
    run = prssm.load("new/m.prssm").simulate(fitted.test)[0]
    np.testing.assert_allclose(run.mean, np.full((20, 1), Y[:60].mean()), rtol=1e-12)
    assert fitted.model.config.seed == 7
    assert fitted.leads
    assert sorted(os.listdir()) == ["inputs.csv", "log.csv", "new"]


def test_notes_go_to_who_asks_for_them() -> None:
    notes: list[str] = []
    Path("model.prssm.checkpoint").write_bytes(b"hours of work")
    fit(constant(), note=notes.append)
    fit(constant(resume=True), note=notes.append)
    assert ["an unfinished run was found" in notes[0], "no checkpoint there" in notes[1]] == [
        True,
        True,
    ]


@pytest.mark.parametrize("data", ["log.csv", "inputs.csv"])
def test_a_file_is_parsed_once(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fit(constant())
    parsed: list[Path] = []
    read_text = text_files.read_text

    def counted(path: Path, words: FileWords) -> FileColumns:
        parsed.append(path)
        return read_text(path, words)

    monkeypatch.setattr(text_files, "read_text", counted)
    (run,) = saved_model.simulate(SavedModelSettings(model=Path("model.prssm"), data=data))
    assert parsed == [Path(data)]
    assert (run.measured is None) == (data == "inputs.csv")


def test_scores_come_with_what_was_scored() -> None:
    fitted = fit(constant())
    settings = SavedModelSettings(model=Path("model.prssm"), data="log.csv", seed=3)
    scored = saved_model.score(settings)
    assert scored.metrics == fitted.model.evaluate(prssm.read("log.csv"), seed=3)
    assert [len(record) for record in scored.records] == [80]


def test_a_search_keeps_its_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant",))
    data = DataSettings(data=("log.csv",), inputs=("u",), outputs=("y",), split=0.75)
    settings = SearchSettings(data=data, over={"seed": [1, 2]}, method="constant", out=Path("runs"))
    loaded = load_data(data)
    found = searching.run(settings, loaded.train)
    kept = searching.keep_best(settings, found, loaded)
    assert [path.name for path in kept.written] == [OPTIONS_FILE, MODEL_FILE, "chosen.json"]
    assert kept.chosen is not None
    expected = prssm.load("runs/best.prssm").evaluate(loaded.test)["rmse"]
    assert kept.chosen["scores"]["constant"]["scores"]["rmse"] == expected
    assert 'inputs = ["u"]' in Path("runs", OPTIONS_FILE).read_text()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: DataSettings(), "no data"),
        (lambda: DataSettings(data=("a.csv",), test="b.csv", split=0.5), "not both"),
        (lambda: DataSettings(data=("a.csv",), split=1.0), "between 0 and 1, got 1.0"),
        (lambda: DataSettings(stream="s", dt=0.1), "--dt: the stream 's' was converted"),
        (lambda: DataSettings(data=("a.csv",), stream="s"), "instead of data, got a.csv too"),
        (lambda: ProcessSettings(process=1), "--process: expected together with --coordinator"),
        (lambda: SavedModelSettings(model=Path("m"), data="a.csv", samples=1), "at least 2, got 1"),
        (lambda: SearchSettings(data=DataSettings(stream="s"), over=["seed=1"]), "in memory"),
        (lambda: SearchSettings(data=DataSettings(data=("a",)), over=[]), "--over"),
        (lambda: SearchSettings(data=DataSettings(data=("a",)), over=["x"], workers=0), "got 0"),
    ],
)
def test_wrong_settings_cannot_be_built(wrong: Callable[[], object], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        wrong()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
