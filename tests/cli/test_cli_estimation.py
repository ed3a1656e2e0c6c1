"""filter and predict as a user runs them, in a temporary folder."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest

import prssm
from prssm.cli.main import main
from prssm.data.io.files import read, write_columns

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def model(folder: Path) -> prssm.LinearSSM:
    fitted = prssm.LinearSSM(order=1, starts=1, random_starts=0).fit(read("plain.csv")[:80])
    fitted.save("m.prssm")
    return fitted


def test_filter_writes_states_outputs_and_innovations(model, capsys) -> None:
    assert main(["filter", "m.prssm", "plain.csv", "--out", "f.csv"]) == 0
    assert capsys.readouterr().out == "estimate: f.csv\n"
    table = polars.read_csv("f.csv")
    found = model.filter(read("plain.csv"))
    np.testing.assert_allclose(table["y_mean"], found.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(table["y_innovation"], found.innovation[:, 0], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(table["state1_std"], found.state_std[:, 0], rtol=1e-6)
    assert main(["filter", "m.prssm", "plain.csv", "--smooth", "--out", "s.csv"]) == 0
    assert "y_innovation" not in polars.read_csv("s.csv").columns


def test_predict_writes_every_row_from_rows_before_it(model) -> None:
    assert main(["predict", "m.prssm", "plain.csv", "--horizon", "10", "--out", "p.csv"]) == 0
    table = polars.read_csv("p.csv")
    found = model.predict(read("plain.csv"), horizon=10)
    np.testing.assert_allclose(table["y_mean"], found.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(table["y"], found.measured[:, 0], rtol=1e-6)


def test_score_says_whether_residuals_are_white(model, capsys) -> None:
    assert main(["score", "m.prssm", "plain.csv", "--out", "s.json"]) == 0
    out = capsys.readouterr().out
    assert "Errors one step ahead are" in out
    assert "independent of the inputs" in out or "depend on the inputs" in out
    residuals = json.loads(Path("s.json").read_text())["residuals"]
    assert 0.0 <= residuals["residual_whiteness_p"] <= 1.0


def test_mistakes_are_one_line(model, refused) -> None:
    assert "--horizon: expected at least 1, got 0" in refused(
        "predict", "m.prssm", "plain.csv", "--horizon", "0"
    )
    assert "Did you mean 'unscented'" in refused(
        "filter", "m.prssm", "plain.csv", "--method", "unscentd"
    )
    assert "expected measured outputs, got none" in refused("filter", "m.prssm", "inputs.csv")
    assert ".csv or .parquet" in refused("filter", "m.prssm", "plain.csv", "--out", "f.xls")
    write_columns("short.csv", {"u": np.ones(2), "v": np.ones(2)})
    assert "prssm: " in refused("predict", "m.prssm", "short.csv", "-y", "nothing")


def test_no_command_overwrites_the_table_of_another(model, capsys) -> None:
    for words in (["simulate"], ["predict"], ["filter"], ["filter", "--smooth"]):
        assert main([words[0], "m.prssm", "plain.csv", *words[1:]]) == 0
    said = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()]
    assert said == ["simulated.csv", "predicted.csv", "filtered.csv", "smoothed.csv"]
    assert all(Path(name).exists() for name in said)
