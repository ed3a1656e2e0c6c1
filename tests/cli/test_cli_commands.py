"""fit, simulate and score as a user runs them, in a temporary folder."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import prssm
from prssm.cli.main import main
from prssm.data.io.files import read, write_columns
from prssm.foundation.plain_json import without_nan, write_json
from prssm.models.constant import Constant
from prssm.models.simulated import Simulated

pytestmark = pytest.mark.usefixtures("folder", "one_baseline")
CONSTANT = ("--method", "constant")


def read_json(path: str | Path) -> dict:
    """Strict JSON: NaN and Infinity, which Python would accept, are errors."""

    def reject(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(Path(path).read_text(), parse_constant=reject)


def test_fit_trains_on_the_first_fraction_and_scores_the_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fit", "plain.csv", *CONSTANT, "--split", "0.75"]) == 0
    record = read("plain.csv")
    model = prssm.load("model.prssm")
    np.testing.assert_allclose(model.scaler_.y_mean, record.y[:90].mean(axis=0), rtol=1e-12)
    captured = capsys.readouterr()
    assert f"{model.evaluate(record[90:])['rmse']:.4g}" in captured.out
    assert "model: model.prssm" in captured.out
    assert captured.err == ""


def test_without_test_data_the_scores_are_called_what_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fit", "plain.csv", *CONSTANT]) == 0
    captured = capsys.readouterr()
    assert "training data" in captured.out
    assert "--split 0.7 or --test FILE" in captured.err


def test_columns_time_and_a_test_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "fit",
                "log.csv",
                "-u",
                "valve",
                "-y",
                "pressure",
                "--time",
                "t",
                "--test",
                "log.csv",
                *CONSTANT,
                "--out",
                "new/folder/m.prssm",
                "--report",
                "also/new/r.html",
            ]
        )
        == 0
    )
    model = prssm.load("new/folder/m.prssm")
    assert (model.input_names_, model.output_names_, model.dt_) == (("valve",), ("pressure",), 0.5)
    assert "test data" in capsys.readouterr().out
    HTMLParser().feed(Path("also/new/r.html").read_text())


def test_several_files_are_several_experiments() -> None:
    assert main(["fit", "plain.csv", "plain.csv", *CONSTANT, "--split", "0.5", "--quiet"]) == 0
    np.testing.assert_allclose(
        prssm.load("model.prssm").scaler_.y_mean, read("plain.csv").y[:60].mean(axis=0), rtol=1e-12
    )


def test_quiet_prints_nothing_and_a_file_of_options_is_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("fit.toml").write_text(
        'data = "plain.csv"\nmethod = "constant"\nquiet = true\nout = "q.prssm"\n[options]\nseed = '
        "7\n"
    )
    assert main(["fit", "--config", "fit.toml"]) == 0
    assert capsys.readouterr() == ("", "")
    assert prssm.load("q.prssm").config.seed == 7
    assert main(["fit", "--config", "fit.toml", "--seed", "8"]) == 0
    assert prssm.load("q.prssm").config.seed == 8


@pytest.mark.parametrize("quiet", [True, False])
def test_models_on_the_way_are_told_unless_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    fit = Constant.fit

    def found_early(model: Constant, data: Any, *, found: Any, **more: Any) -> Any:
        fitted = fit(model, data, **more)
        found(fitted)
        return fitted

    monkeypatch.setattr(Constant, "fit", found_early)
    assert main(["fit", "plain.csv", *CONSTANT, *["--quiet"] * quiet]) == 0
    said = capsys.readouterr().err
    assert ("s, saved in model.prssm" in said) is not quiet
    assert not (quiet and said)


def test_a_simulated_set_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "kink", *CONSTANT]) == 0
    train, _ = prssm.datasets.load("kink")
    records = train if isinstance(train, list) else [train]
    np.testing.assert_allclose(
        prssm.load("model.prssm").scaler_.y_mean,
        np.concatenate([record.y for record in records]).mean(axis=0),
        rtol=1e-12,
    )
    assert "test data" in capsys.readouterr().out
    assert main(["score", "model.prssm", "kink"]) == 0


def test_an_old_checkpoint_is_put_aside_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.prssm.checkpoint").write_bytes(b"hours of work")
    assert main(["fit", "plain.csv", *CONSTANT]) == 0
    assert Path("model.prssm.checkpoint.old").read_bytes() == b"hours of work"
    assert not Path("model.prssm.checkpoint").exists()
    assert "--resume --checkpoint model.prssm.checkpoint.old" in capsys.readouterr().err


def test_a_failed_fit_leaves_the_old_model_alone(refused) -> None:
    Path("model.prssm").write_bytes(b"old")
    Path("flat.csv").write_text("u,y\n" + "".join(f"{i},1\n" for i in range(50)))
    assert "constant" in refused("fit", "flat.csv", *CONSTANT)
    assert Path("model.prssm").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["out/pred.csv", "pred.parquet"])
def test_simulate_writes_what_the_library_predicts(name: str) -> None:
    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    assert main(["simulate", "model.prssm", "plain.csv", "--out", name]) == 0
    frame = polars.read_csv(name) if name.endswith("csv") else polars.read_parquet(name)
    expected = prssm.load("model.prssm").simulate(read("plain.csv")).to_columns()
    assert frame.columns == list(expected)
    for column, values in expected.items():
        np.testing.assert_array_equal(frame[column].to_numpy(), values)


def test_simulate_from_inputs_alone() -> None:
    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    assert main(["simulate", "model.prssm", "inputs.csv", "--out", "p.csv"]) == 0
    frame = polars.read_csv("p.csv")
    assert "y" not in frame.columns
    assert len(frame) == 120
    assert main(["simulate", "model.prssm", "log.csv", "-u", "valve", "--out", "renamed.csv"]) == 0
    np.testing.assert_array_equal(
        polars.read_csv("renamed.csv")["y_mean"].to_numpy(), frame["y_mean"].to_numpy()
    )


def test_a_run_outside_of_the_training_data_is_one_line_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    u = 5.0 * polars.read_csv("inputs.csv")["u"].to_numpy()
    write_columns("far.csv", {"u": u})
    capsys.readouterr()
    assert main(["simulate", "model.prssm", "far.csv", "--out", "p.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "prediction: p.csv\n"
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("prssm: caution: far.csv: ")
    assert "rows are outside" in captured.err
    outside = polars.read_csv("p.csv")["outside_training"].to_numpy()
    assert (outside[np.abs(u) > 1.0] > 0.0).all()


def test_scores_are_json_and_equal_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    assert (
        main(
            [
                "score",
                "model.prssm",
                "log.csv",
                "-u",
                "valve",
                "-y",
                "pressure",
                "--out",
                "new/scores.json",
            ]
        )
        == 0
    )
    document = read_json("new/scores.json")
    expected = prssm.load("model.prssm").evaluate(read("plain.csv"))
    assert document["metrics"] == pytest.approx(expected, rel=1e-12)
    assert (document["model"], document["data"], document["rows"]) == (
        "model.prssm",
        "log.csv",
        120,
    )
    assert f"{expected['rmse']:.4g}" in capsys.readouterr().out


def test_nothing_measured_is_nothing_to_score(refused) -> None:
    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    assert "nothing to score" in refused("score", "model.prssm", "inputs.csv")


def test_json_has_null_where_there_is_no_number(tmp_path: Path) -> None:
    document = {
        "a": float("nan"),
        "b": [float("inf"), 1.5],
        "c": {"d": -float("inf"), "e": "text", "f": None, "g": 3},
    }
    assert without_nan(document) == {
        "a": None,
        "b": [None, 1.5],
        "c": {"d": None, "e": "text", "f": None, "g": 3},
    }
    assert read_json(write_json(tmp_path / "x.json", document)) == without_nan(document)


def test_the_progress_bar_needs_a_terminal_or_force(monkeypatch: pytest.MonkeyPatch) -> None:
    from prssm.cli.terminal import wants_progress

    for variable in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    assert not wants_progress(quiet=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_progress(quiet=False)
    assert not wants_progress(quiet=True)


def test_drawn_trajectories_are_written_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(
        self: Constant, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        drawn = np.random.default_rng(seed).normal(size=(samples or 5, len(u), 1))
        return Simulated(drawn.mean(axis=0), drawn.std(axis=0), drawn)

    main(["fit", "plain.csv", *CONSTANT, "--quiet"])
    monkeypatch.setattr(Constant, "_simulate", draw)
    assert (
        main(
            [
                "simulate",
                "model.prssm",
                "plain.csv",
                "--out",
                "p.csv",
                "--samples",
                "3",
                "--seed",
                "4",
            ]
        )
        == 0
    )
    frame = polars.read_csv("p.csv")
    expected = prssm.load("model.prssm").simulate(read("plain.csv"), samples=3, seed=4).samples
    for sample in range(3):
        np.testing.assert_array_equal(frame[f"y_sample{sample}"].to_numpy(), expected[sample, :, 0])
    assert main(["simulate", "model.prssm", "plain.csv", "--out", "q.csv"]) == 0
    assert not any("sample" in name for name in polars.read_csv("q.csv").columns)


def test_the_demo_goes_the_whole_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a method that fits at once in place of PR-SSM, whose training has its own tests."""
    monkeypatch.setattr("prssm.models.prssm.estimator.PRSSM", Constant)
    monkeypatch.setattr("prssm.cli.commands.demo.DEMO_OPTIONS", {"seed": 3})
    assert main(["demo", "--out", "demo.prssm"]) == 0
    assert "drives_sim" in Path("demo-report.html").read_text()
    _, test = prssm.datasets.load("drives_sim")
    assert f"{prssm.load('demo.prssm').evaluate(test)['rmse']:.4g}" in capsys.readouterr().out


def test_the_demo_asks_for_options_that_exist() -> None:
    from prssm.cli.commands.demo import DEMO_OPTIONS

    prssm.PRSSM(**DEMO_OPTIONS)


def test_preprocessing_is_saved_and_the_split_of_it_is_scored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--preprocess", "split=90:", "--preprocess", "detrend=linear"]
    assert main(["fit", "log.csv", *CONSTANT, "-u", "valve", "-y", "pressure", *words]) == 0
    told = capsys.readouterr().out
    assert "free run, test data" in told
    assert "preprocessing: split=90:, detrend=linear" in told
    model = prssm.load("model.prssm")
    assert model.preprocessing_.words == ["split=90:", "detrend=linear"]
    record = read("log.csv", inputs=["valve"], outputs=["pressure"])
    slope = np.polyfit(np.arange(90), record.y[:90, 0], 1)[0]
    run = model.simulate(record)
    np.testing.assert_allclose(np.diff(run.mean[:, 0]), slope, rtol=1e-6)


def test_steps_may_stand_in_a_file_and_wrong_ones_are_refused(refused) -> None:
    Path("fit.toml").write_text('data = "plain.csv"\npreprocess = ["detrend", "lowpss=2"]\n')
    assert "unknown step 'lowpss'" in refused("fit", "--config", "fit.toml", *CONSTANT)
    both = refused("fit", "plain.csv", *CONSTANT, "--split", "0.5", "--preprocess", "split=0.7")
    assert "--split and --preprocess split=0.7: give one of them" in both
    assert not Path("model.prssm").exists()
