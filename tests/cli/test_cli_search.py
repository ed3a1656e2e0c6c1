"""`prssm search` as a user runs it."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import prssm
from prssm.cli.main import main
from prssm.data.io.files import read

pytestmark = pytest.mark.usefixtures("folder", "few_simple")
SWEEP = (
    "search",
    "plain.csv",
    "--method",
    "constant",
    "--over",
    "seed=0..3",
    "--split",
    "0.75",
    "--out",
    "runs/s",
)


@pytest.fixture
def few_simple(monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear row has its own tests."""
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant",))


def records() -> list[dict]:
    return [json.loads(line) for line in Path("runs/s/trials.jsonl").read_text().splitlines()]


def test_a_sweep_leaves_all_that_was_promised_and_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(SWEEP) == 0
    told = capsys.readouterr()
    assert "[5/5]" in told.err
    assert "Test data, free run" in told.out
    names = {path.name for path in Path("runs/s").iterdir()}
    assert {
        "trials.jsonl",
        "best.toml",
        "best.prssm",
        "chosen.json",
        "report.html",
        "search.png",
        "trials.csv",
    } <= names
    model = prssm.load("runs/s/best.prssm")
    log = read("plain.csv")
    # of the 90 training rows the last 30 %
    held_out = log.y[63:90]
    shown = log.y[:63]
    assert records()[1]["metrics"]["rmse"] == pytest.approx(
        np.sqrt(np.mean((held_out - shown.mean()) ** 2))
    )
    chosen = json.loads(Path("runs/s/chosen.json").read_text())
    assert chosen["scores"]["constant"]["scores"]["rmse"] == pytest.approx(
        model.evaluate(log[90:])["rmse"]
    )
    before = Path("runs/s/trials.jsonl").read_bytes()
    assert main(SWEEP) == 0
    assert capsys.readouterr().out == told.out
    assert Path("runs/s/trials.jsonl").read_bytes() == before


def test_the_options_file_gives_the_same_model() -> None:
    assert main([*SWEEP, "--quiet"]) == 0
    assert main(["fit", "--config", "runs/s/best.toml", "--quiet", "--out", "again.prssm"]) == 0
    log = read("plain.csv")
    ours, theirs = (
        prssm.load(path).simulate(log).mean for path in ("runs/s/best.prssm", "again.prssm")
    )
    np.testing.assert_array_equal(ours, theirs)


def test_a_file_says_the_same_and_no_fit_leaves_the_test_part_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("search.toml").write_text(
        'data = "plain.csv"\nmethod = "constant"\nsplit = 0.75\nout = "runs/s"\nno_fit = true\n'
        "held_out_folds = 2\n[over]\nseed = [0, 1]\n"
    )
    assert main(["search", "--config", "search.toml"]) == 0
    assert "Test data" not in capsys.readouterr().out
    assert len(records()) == 3
    assert not Path("runs/s/best.prssm").exists()
    assert tomllib.loads(Path("runs/s/best.toml").read_text())["options"] == {"seed": 0}
    page = Path("runs/s/report.html").read_text()
    assert (
        "--split 0.75 --method constant --over seed=0,1 --held-out-folds 2 --no-fit --out runs/s"
        in page
    )


def test_ctrl_c_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: object, trial: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("prssm.evaluation.search.trial.TrialWork.__call__", interrupt)
    assert main(SWEEP) == 130
    assert (
        "kept in runs/s/trials.jsonl, the same command goes on from there"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["plain.csv"], "--over: expected what to try"),
        (["plain.csv", "--over", "seed=0..1", "--outt", "x"], "Did you mean 'out'"),
        (["plain.csv", "--over", "sead=0..1"], "Did you mean 'seed'"),
        (["--over", "seed=0..1"], "no data"),
        (
            ["plain.csv", "--over", "seed=0..1", "--held-out-folds", "2", "--hold-out", "0.2"],
            "one of them",
        ),
        (["plain.csv", "--over", "seed=0..1", "--workers", "0"], "--workers"),
        (["nothing.csv", "--over", "seed=0..1"], "nothing.csv"),
    ],
)
def test_mistakes_are_one_line(
    refused: Callable[..., str], words: list[str], expected: str
) -> None:
    assert expected in refused("search", *words)
    assert not Path("runs").exists()


def test_a_folder_of_another_question_is_refused(refused: Callable[..., str]) -> None:
    assert main([*SWEEP, "--quiet"]) == 0
    assert "holds a search with other held out: the last 30% there, 2 folds here" in refused(
        *SWEEP, "--held-out-folds", "2"
    )


def test_wrong_types_in_a_file_are_named(refused: Callable[..., str]) -> None:
    Path("search.toml").write_text('data = "plain.csv"\nover = "seed=0..1"\n')
    assert "over: expected a table [over]" in refused("search", "--config", "search.toml")
    Path("search.toml").write_text('data = "plain.csv"\ntrials = 2.5\n')
    assert "trials: expected a whole number" in refused("search", "--config", "search.toml")
