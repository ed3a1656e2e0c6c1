"""`prssm export`: names, places and refusals."""

import subprocess
from pathlib import Path

import pytest
from fitted_models import random_prssm

import prssm
from prssm.cli.main import main


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return random_prssm().save(tmp_path / "tank.prssm")


def test_c_code_lies_beside_the_model_and_runs(saved: Path, capsys) -> None:
    assert main(["export", str(saved), "--to", "c", "--samples", "4"]) == 0
    folder = saved.parent / "tank-c"
    assert str(folder) in capsys.readouterr().out
    words = ["cc", "-std=c99", "prssm_model.c", "prssm_selftest.c", "-lm", "-o", "selftest"]
    subprocess.run(words, cwd=folder, check=True)
    subprocess.run([folder / "selftest"], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "cc"], "unknown target 'cc'"),
        (["--to", "c", "--samples", "1"], "samples: expected 0 (the mean alone) or at least 2"),
        (["--to", "c", "--precision", "half"], "precision: expected double or single"),
        (["--to", "c", "--seed", "-1"], "seed: expected at least 0"),
    ],
)
def test_mistakes_are_one_line(saved: Path, words: list[str], said: str, capsys) -> None:
    assert main(["export", str(saved), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [path.name for path in saved.parent.iterdir()] == ["tank.prssm"]


@pytest.mark.parametrize(
    ("to", "place", "said"),
    [
        ("fmu2", "plant.zip", "out: expected a file name that ends in .fmu, got 'plant.zip'"),
        ("fmu3", "taken/plant.fmu", "out: expected the name of a folder, got the file 'taken'"),
        ("casadi", "full", "out: expected the name of a file, got the folder 'full'"),
        ("c", "taken", "out: expected the name of a folder, got the file 'taken'"),
        ("onnx", "taken/graphs", "out: expected the name of a folder, got the file 'taken'"),
    ],
)
def test_a_wrong_place_is_said_before_the_model_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, to: str, place: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    (tmp_path / "full").mkdir()
    assert main(["export", "never-read.prssm", "--to", to, "--out", place]) == 2
    assert capsys.readouterr().err == f"prssm: {said}\n"


def test_the_same_from_python(tmp_path: Path) -> None:
    folder = prssm.export(random_prssm(), to="c", out=tmp_path / "code", samples=0)
    assert sorted(path.name for path in folder.iterdir()) == [
        "prssm_model.c",
        "prssm_model.h",
        "prssm_selftest.c",
    ]
    with pytest.raises(prssm.OptionError, match="got constant"):
        prssm.export(prssm.Constant(), to="c", out=tmp_path / "none")
    assert not (tmp_path / "none").exists()
