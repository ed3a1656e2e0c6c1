"""`prssm report`, `prssm compare`, and the scores of each output."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from small_models import small_linear, small_record

import prssm
from prssm.cli.main import main
from prssm.data.io.files import write_record
from prssm.evaluation.comparison import compare
from prssm.report.fit.notes import cautions, notes_about


def record(scale: float = 1.0, seed: int = 0) -> prssm.Record:
    rng = np.random.default_rng(seed)
    u = scale * rng.uniform(0.0, 1.0, 60)
    y = np.stack([np.convolve(u, [0.5, 0.3, 0.2])[:60], 3.0 * u + 1.0], axis=1)
    return prssm.Record(u, y, 0.5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_record("test.csv", record(seed=1))
    prssm.Constant().fit(record()).save("a.prssm")
    prssm.Constant().fit(record(seed=2)).save("b.prssm")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_models_are_compared_on_one_record(capsys) -> None:
    words = ["compare", "a.prssm", "b.prssm", "--on", "test.csv"]
    assert main([*words, "--out", "s.json", "--report", "c.html"]) == 0
    told = capsys.readouterr().out
    assert "a (constant)" in told
    assert "b (constant): each output alone" in told
    scores = json.loads(Path("s.json").read_text())["models"]
    for name in ("a.prssm", "b.prssm"):
        model = prssm.load(name)
        expected = model.evaluate(prssm.read("test.csv"))
        assert scores[name]["metrics"]["rmse"] == pytest.approx(expected["rmse"])
        each = scores[name]["metrics_of_each_output"]
        assert list(each) == ["y1", "y2"]
        run = model.simulate(prssm.read("test.csv"))
        errors = np.sqrt(np.mean((run.measured - run.mean) ** 2, axis=0))
        assert [each[y]["rmse"] for y in each] == pytest.approx(errors.tolist())
    page = Path("c.html").read_text()
    assert "b (constant)" in page
    assert page.count(">a (constant)<") >= 1  # a row of the table beside the other's
    assert 'href="#error-against-horizon"' in page


@pytest.mark.usefixtures("folder")
def test_a_report_about_a_saved_model(capsys) -> None:
    assert main(["report", "a.prssm", "test.csv", "--out", "r.html"]) == 0
    page = Path("r.html").read_text()
    assert "a on test.csv" in page
    assert "Test.csv" not in page
    assert "No data was kept back" not in page
    assert 'id="inputs"' in page
    assert "Each output alone" in page


@pytest.fixture
def linear(folder: Path) -> prssm.LinearSSM:
    """A model that starts from three rows, and long.csv to run it over."""
    model = small_linear()
    model.save("linear.prssm")
    names = {"input_names": model.input_names_, "output_names": model.output_names_}
    write_record("long.csv", small_record(model, rows=90).changed(**names))
    return model


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
def test_simulate_reads_outputs_of_the_first_rows_alone(rows, linear) -> None:
    words = ["simulate", "linear.prssm", "long.csv", "--start", str(rows), "--out", "p.csv"]
    assert main(words) == 0
    long = prssm.read("long.csv", inputs=["valve 0"], outputs=["level 0"])
    first = np.array(long.y)
    first[rows:] = np.nan
    expected = linear.simulate(long.changed(y=first), start=rows)
    table = polars.read_csv("p.csv")
    np.testing.assert_allclose(table["level 0_mean"], expected.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(table["level 0_std"], expected.std[:, 0], rtol=1e-6)
    same = np.allclose(expected.mean, linear.simulate(long).mean)
    assert same is (rows >= linear.warmup)


def test_score_is_that_of_the_run_with_this_start(linear) -> None:
    words = ["score", "linear.prssm", "long.csv", "--start", "1", "--out", "s.json"]
    assert main(words) == 0
    told = json.loads(Path("s.json").read_text())
    expected = linear.evaluate(
        "long.csv", start=1, inputs=linear.input_names_, outputs=linear.output_names_
    )
    assert told["start"] == 1
    assert told["metrics"]["rmse"] == pytest.approx(expected["rmse"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["simulate", "score"])
@pytest.mark.parametrize("value", ["0", "-3", "1.5", "few", "nan", ""])
def test_a_start_that_is_no_number_of_rows_is_refused(command, value, capsys) -> None:
    assert main([command, "a.prssm", "test.csv", f"--start={value}"]) == 2
    told = capsys.readouterr().err
    assert "--start" in told
    assert told.count("\n") == 1
    assert not Path("simulated.csv").exists()


@pytest.mark.usefixtures("folder")
def test_a_number_that_is_not_whole_is_not_rounded(capsys) -> None:
    assert main(["predict", "a.prssm", "test.csv", "--horizon", "1.5"]) == 2
    assert "--horizon: expected a whole number, got '1.5'." in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["compare", "--on", "test.csv"], "no models"),
        (["compare", "a.prssm", "--on", "nowhere.csv"], "no such file"),
        (["report", "a.prssm", "test.csv", "--out", "r.pdf"], "ends in .html"),
        (["report", "z.prssm", "test.csv"], "z.prssm"),
    ],
)
def test_mistakes_are_one_line(words, line, capsys) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert line in told
    assert told.count("\n") == 1


def test_leaving_the_training_range_is_no_over_fitting() -> None:
    """The error grows with the inputs, and the note says why."""
    train = record()
    far = compare(prssm.Constant().fit(train), [train], [record(scale=5.0)])
    texts = " ".join(note.text for note in notes_about(far.runs, [], None, held_out=True))
    assert "have inputs that training never saw" in texts
    assert "learnt the recording more than the system" not in texts
    assert "Input 'u' reaches" not in " ".join(cautions(far, None))
    spoilt = record(seed=1).changed(y=10.0 * record(seed=1).y)
    near = compare(prssm.Constant().fit(train), [train], [spoilt])
    told = " ".join(cautions(near, None))
    assert "measured 'y2' reaches" in told
    assert "but what was measured leaves what training saw" in told
    assert "learnt the recording more than the system" not in told


def test_an_error_inside_the_training_range_is_over_fitting() -> None:
    rng = np.random.default_rng(3)
    y = rng.uniform(0.0, 1.0, 60)
    calm = prssm.Record(None, np.where(np.arange(60) % 12, 0.5, y), 1.0)
    wild = prssm.Record(None, np.where(y > 0.5, calm.y.max(), calm.y.min()), 1.0)
    far = compare(prssm.Constant().fit(calm), [calm], [wild])
    assert far.runs[0].beyond == []
    assert "learnt the recording more than the system" in " ".join(cautions(far, None))


def test_measured_outputs_beyond_training_are_said_of_a_saved_model(folder, capsys) -> None:
    write_record("far.csv", record(seed=1).changed(y=10.0 * record(seed=1).y))
    assert main(["score", "a.prssm", "far.csv"]) == 0
    assert "measured 'y2' reaches" in capsys.readouterr().err
    assert main(["report", "a.prssm", "far.csv", "--out", "r.html", "--static"]) == 0
    assert "Record training data that reach as far as these" in Path("r.html").read_text()
    assert main(["score", "a.prssm", "test.csv"]) == 0
    assert "measured" not in capsys.readouterr().err
