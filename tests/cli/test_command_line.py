"""The front door: help, speed of help, exit codes, one line for an error."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from prssm.cli import main as main_module
from prssm.cli.main import main, outcome
from prssm.cli.signals import Terminated
from prssm.foundation.errors import OptionError, TrainingInterrupted

COMMANDS = (
    "fit",
    "convert",
    "search",
    "simulate",
    "score",
    "export",
    "datasets",
    "methods",
    "benchmark",
    "demo",
    "info",
)
SLOW = ("jax", "polars", "matplotlib", "scipy", "jinja2", "narwhals", "optax")


def program(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "prssm.cli.main", *words], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.parametrize("words", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_is_printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "Usage: prssm" in captured.out
    assert captured.err == ""


def test_help_imports_nothing_slow(tmp_path: Path) -> None:
    asked = [["--help"], *([command, "--help"] for command in COMMANDS)]
    code = (
        f"import sys; from prssm.cli.main import main; [main(words) for words in {asked}]; "
        f"print('slow:', [m for m in {SLOW} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "slow: []"


def test_every_option_of_fit_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", "--help"])
    shown = capsys.readouterr().out
    for name in (
        "--inputs",
        "-u",
        "--outputs",
        "-y",
        "--time",
        "--dt",
        "--method",
        "--preset",
        "--out",
        "--report",
        "--test",
        "--split",
        "--config",
        "--resume",
        "--checkpoint",
        "--quiet",
        "--latent-dim",
        "[options]",
    ):
        assert name in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from prssm import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_user_error_of_the_real_program_is_one_line(tmp_path: Path) -> None:
    done = program("fit", "nowhere.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "prssm: nowhere.csv: no such file\n"


def test_debug_shows_where_an_error_arose(tmp_path: Path) -> None:
    done = program("fit", "--debug", "nowhere.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "DataError" in done.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["fot"], 'Did you mean "fit"'),
        (["fit", "plain.csv", "--imputs", "u"], "Did you mean 'inputs'"),
        (["fit", "plain.csv", "--latent-dm", "4"], "Did you mean 'latent_dim'"),
        (["fit", "plain.csv", "--resum"], "Did you mean --resume?"),
        (["fit", "plain.csv", "--dt", "fast"], "--dt"),
        (["fit", "plain.csv", "--method", "prsm"], "Did you mean 'prssm'"),
        (["fit", "plain.csv", "--preset", "papr"], "Did you mean 'paper'"),
        (["fit", "drivs"], "Did you mean 'drives'"),
        (["fit"], "no data"),
        (["search", "--stream", "logs", "--over", "seed=0..1"], "no data"),
        (["fit", "plain.csv", "--split", "1.5"], "between 0 and 1"),
        (["fit", "plain.csv", "--split", "0.999", "--method", "constant"], "fewer than 2"),
        (["fit", "plain.csv", "--split", "0.5", "--test", "log.csv"], "not both"),
        (["fit", "plain.csv", "--out", "model.pkl"], "ends in .prssm"),
        (["fit", "plain.csv", "--report", "report.pdf"], "ends in .html"),
        (["fit", "plain.csv", "--out", "plain.csv/m.prssm"], "is a file"),
        (["fit", "kink", "plain.csv"], "one data set"),
        (["fit", "kink", "--split", "0.5"], "leave --split out"),
        (["fit", "log.csv", "-u", "valv", "-y", "pressure"], "Did you mean 'valve'"),
        (["simulate", "no.prssm", "inputs.csv"], "no such file"),
        (["simulate", "plain.csv", "inputs.csv"], "not a whole prssm model file"),
        (["simulate", "no.prssm", "inputs.csv", "--out", "p.xlsx"], "ends in .csv or .parquet"),
        (["score", "no.prssm", "plain.csv", "--out", "s.yaml"], "ends in .json"),
        (["score", "no.prssm"], "DATA is missing"),
        (["score", "no.prssm", "plain.csv", "--samples", "1"], "at least 2"),
        (["methods", "linar"], "Did you mean 'linear'"),
        (["datasets", "drive"], "Did you mean 'drives'"),
        (["demo", "--report", "demo.txt"], "ends in .html"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_mistakes_get_one_line_that_names_them(words: list[str], part: str, refused) -> None:
    assert part in refused(*words)


def test_a_bug_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.setattr(main_module, "app", broken)
    assert main(["info"]) == 1
    assert capsys.readouterr().err == (
        "prssm: this is a bug, please report it: ZeroDivisionError: one two; --debug shows where "
        "it arose\n"
    )


def test_exit_codes_of_interruptions() -> None:
    stopped = TrainingInterrupted("at iteration 3")
    stopped.__context__ = Terminated("ended by SIGTERM")
    assert outcome(stopped) == ("at iteration 3", 143)
    assert outcome(TrainingInterrupted("at iteration 3")) == ("at iteration 3", 130)
    assert outcome(KeyboardInterrupt()) == ("interrupted", 130)
    assert outcome(OptionError("wrong")) == ("wrong", 2)


def test_a_full_disk_and_too_little_memory_are_no_bugs() -> None:
    line, code = outcome(OSError(errno.ENOSPC, "No space left on device"))
    assert (line, code) == ("a file or stream: No space left on device", 2)
    assert outcome(MemoryError())[1] == 2


def test_methods_and_options_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    listed = capsys.readouterr().out
    for name in ("constant", "linear", "prssm", "paper"):
        assert name in listed
    assert main(["methods", "prssm"]) == 0
    options = capsys.readouterr().out
    assert "--latent-dim" in options
    assert "dimension of the latent state" in options


def test_data_sets_are_listed_and_described(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRSSM_DATA", str(tmp_path))
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    here = {
        line.split()[0]: line.split()[1] for line in lines if line.strip() and len(line.split()) > 1
    }
    assert here["drives"] == "no"
    assert here["drives_sim"] == "simulated"
    (tmp_path / "drive.mat").write_bytes(b"there")
    main(["datasets", "drives"])
    described = capsys.readouterr().out
    assert "drive.mat" in described
    assert "sha256" in described
    assert "yes" in described


def test_info_names_versions_and_data_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import jax

    monkeypatch.setenv("PRSSM_DATA", str(tmp_path))
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    for part in (jax.__version__, str(tmp_path), "cpu", "cores"):
        assert part in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["simulate", "a.prssm", "b.csv", "c.csv"],
            "prssm: c.csv: expected nothing after MODEL DATA. See: prssm simulate --help",
        ),
        (
            ["simulate", "a.prssm"],
            "prssm: DATA is missing: prssm simulate MODEL DATA. See: prssm simulate --help",
        ),
        (
            ["export", "a.prssm"],
            "prssm: parameter --to requires an argument. See: prssm export --help",
        ),
        (
            ["fit", "a.csv", "--budget", "-3s"],
            "prssm: parameter --budget requires an argument. A value that begins with a minus is "
            "written --budget=-3s. See: prssm fit --help",
        ),
    ],
)
def test_words_that_are_too_many_or_missing(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.strip() == told
