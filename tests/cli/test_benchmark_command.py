"""`prssm benchmark` as a user runs it: results, reruns, and wrong words before anything is
touched.
"""

import json
import subprocess
import sys

import benchmark_fakes
import numpy as np
import pytest

from prssm.cli.main import main
from prssm.evaluation.jobs.results import FILE_NAME


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    benchmark_fakes.install(monkeypatch)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main(["benchmark", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_one_command_makes_the_table_and_a_rerun_only_prints_it(command, tmp_path):
    words = (
        "--methods",
        "prssm",
        "prssm:offset=3.5",
        "--datasets",
        "toy",
        "drives",
        "--seeds",
        "2",
        "--out",
        "runs",
    )
    code, out, err = command(*words)
    assert code == 0, err
    assert "PR-SSM (paper)" in out
    assert "[16/16]" in err
    for name in (FILE_NAME, "results.md", "report.html", "experiments.csv"):
        assert (tmp_path / "runs" / name).exists()
    content = (tmp_path / "runs" / FILE_NAME).read_bytes()
    fits = dict(benchmark_fakes.FITS)
    assert len(content.splitlines()) == 16
    code, again, err = command(*words)
    assert (code, err) == (0, "")
    assert again == out
    assert (tmp_path / "runs" / FILE_NAME).read_bytes() == content
    assert fits == benchmark_fakes.FITS


def test_options_reach_the_experiments_and_the_page_shows_the_command(command, tmp_path):
    code, _, err = command(
        "--methods",
        "prssm",
        "--datasets",
        "toy",
        "--seeds",
        "1",
        "--out",
        "runs",
        "--preset",
        "paper",
        "--options",
        "offset=2",
        "prssm.scheme=full",
        "--docs",
        "docs/studies/results.md",
        "--quiet",
    )
    assert (code, err) == (0, "")
    records = [
        json.loads(line) for line in (tmp_path / "runs" / FILE_NAME).read_text().splitlines()
    ]
    (ours,) = [record for record in records if record["label"] == "prssm"]
    assert ours["configuration"] == {
        "behave": "well",
        "offset": 2.0,
        "iterations": 70,
        "scheme": "full",
        "restarts": 2,
    }
    page = (tmp_path / "docs" / "studies" / "results.md").read_text()
    assert (
        "`prssm benchmark --methods prssm --datasets toy --seeds 1 --out runs --preset paper "
        "--options offset=2 prssm.scheme=full --docs docs/studies/results.md`"
    ) in page


def test_figures_bring_their_experiments(command, tmp_path):
    code, _, err = command(
        "--methods",
        "prssm",
        "--datasets",
        "toy",
        "--seeds",
        "1",
        "--out",
        "runs",
        "--figures",
        "untrained-vs-trained",
    )
    assert code == 0, err
    records = [
        json.loads(line) for line in (tmp_path / "runs" / FILE_NAME).read_text().splitlines()
    ]
    assert [r["configuration"]["iterations"] for r in records if r["dataset"] == "furnace"] == [
        0,
        50,
    ]
    assert (tmp_path / "runs" / "figures" / "untrained-vs-trained.png").exists()


def test_settings_stand_beside_the_published_figures_of_the_same_setting(
    command, monkeypatch, tmp_path
):
    benchmark_fakes.install_varied(monkeypatch)
    words = (
        "--methods",
        "nigp",
        "--datasets",
        "drives",
        "--seeds",
        "2",
        "--out",
        "runs",
        "--supplement",
        "all",
    )
    code, _, err = command(*words)
    assert code == 0, err
    assert "[12/12]" in err  # three rows; of them nigp in three more settings; each with two seeds
    tables = (tmp_path / "runs" / "results.md").read_text().split("\n## ")
    error = {
        level: f"{np.sqrt(np.mean((np.arange(8.0) - level) ** 2)):.3f} (0.000)"
        for level in range(4)
    }
    expected = {
        "unnormalised, mean": (3, "0.378 (0.000)"),
        "unnormalised, moment": (1, "0.398 (0.000)"),
        "normalised, mean": (2, "0.369 (0.000)"),
        "normalised, moment": (0, "0.373 (0.000)"),
    }
    for title, (level, paper) in expected.items():
        (table,) = [
            text
            for text in tables
            if text.startswith(f"Test RMSE of the free run; paper: data {title}")
        ]
        (ours,) = [line for line in table.splitlines() if line.startswith("| nigp")]
        assert error[level] in ours
        assert f"| NIGP (paper) | {paper} |" in table.replace("*", "")
    assert "--supplement all" in tables[0]
    assert len((tmp_path / "runs" / "experiments.csv").read_text().splitlines()) == 1 + 12


def test_without_settings_no_table_of_another_setting(command, tmp_path):
    command(
        "--methods", "prssm", "--datasets", "drives", "--seeds", "1", "--out", "runs", "--quiet"
    )
    assert (tmp_path / "runs" / "results.md").read_text().count("Test RMSE of the free run") == 1


def test_report_only_runs_nothing_and_shows_what_is_missing(command, tmp_path):
    words = ("--methods", "prssm", "--datasets", "toy", "--out", "runs")
    command(*words, "--seeds", "1", "--quiet")
    fits = dict(benchmark_fakes.FITS)
    code, out, err = command(*words, "--seeds", "2", "--report-only")
    assert (code, err) == (0, "")
    assert fits == benchmark_fakes.FITS
    assert "1 of 2 missing" in out
    assert len((tmp_path / "runs" / FILE_NAME).read_text().splitlines()) == 3


def test_retry_failed(command):
    words = (
        "--methods",
        "prssm:behave=raise",
        "--datasets",
        "toy",
        "--seeds",
        "1",
        "--out",
        "runs",
    )
    command(*words)
    command(*words)
    assert benchmark_fakes.FITS["raise"] == 1
    code, out, _ = command(*words, "--retry-failed")
    assert code == 0
    assert benchmark_fakes.FITS["raise"] == 2
    assert "no luck" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--methods", "prsm"), "unknown method 'prsm'. Did you mean 'prssm'?"),
        (("--datasets", "nothing"), "unknown data set 'nothing'"),
        (("--figures", "recogniton"), "Did you mean 'recognition'?"),
        (("--supplement", "unnormalized-mean"), "Did you mean 'unnormalised-mean'?"),
        (("--options", "itertions=3"), "Did you mean 'iterations'?"),
        (("--seeds", "0"), "seeds"),
        (("--workers", "0"), "workers"),
        (("--docs", "results.html"), "ends in .md"),
    ],
)
def test_wrong_words_get_one_line_and_touch_nothing(command, tmp_path, words, said):
    code, out, err = (
        command("--datasets", "toy", "--out", "runs", *words)
        if "--datasets" not in words
        else command("--out", "runs", *words)
    )
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_results_of_another_version_are_left_as_they_are(command, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / FILE_NAME).write_text('{"schema": 99}\n')
    code, out, err = command("--datasets", "toy", "--out", "runs")
    assert (code, out) == (2, "")
    assert "results version 99" in err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [FILE_NAME]
    assert (tmp_path / "runs" / FILE_NAME).read_text() == '{"schema": 99}\n'
    assert not benchmark_fakes.FITS


def test_interruption_says_what_is_kept(command, tmp_path):
    code, _, err = command(
        "--methods",
        "prssm",
        "prssm:behave=interrupt",
        "--datasets",
        "toy",
        "--seeds",
        "1",
        "--out",
        "runs",
    )
    assert code == 130
    assert "stopped; 3 of 4 experiments are kept in runs/experiments.jsonl" in err
    assert len((tmp_path / "runs" / FILE_NAME).read_text().splitlines()) == 3


def test_without_data_one_line_says_which_file_is_missing(tmp_path):
    """The command itself, in a process of its own, with a data folder that is a file: nothing can
    be there.
    """
    (tmp_path / "file").write_text("")
    words = [
        "benchmark",
        "--methods",
        "constant",
        "--datasets",
        "dryer",
        "--out",
        str(tmp_path / "runs"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "prssm.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "", "PRSSM_DATA": str(tmp_path / "file")},
    )
    assert done.returncode == 2
    assert "dryer.dat" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()
