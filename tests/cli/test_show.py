from pathlib import Path

import pytest

from prssm.cli.main import main


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def show(content: str, *words: str) -> str:
        path = tmp_path / "log.csv"
        path.write_text(content)
        assert main(["show", str(path), *words]) == 0
        return capsys.readouterr().out

    return show


def log(rows: int = 60, skip: range = range(0)) -> str:
    lines = [f"{i * 0.5},{i % 7},{2 * i}" for i in range(rows) if i not in skip]
    return "\n".join(["t,valve,level", "s,%,m", *lines]) + "\n"


def test_columns_time_ranges_and_a_picture(shown) -> None:
    told = shown(log())
    assert "60 rows" in told
    assert "sampling time: 0.5 s (column 't')" in told
    level = next(line for line in told.splitlines() if "level" in line)
    assert "118" in level
    assert "▁" in level
    assert level.index("▁") < level.index("█")
    assert "say which columns are inputs and outputs" in told
    assert "advice: name the time column where you read the file: --time t" in told
    assert "name the time column" not in shown(log().replace("t,valve", "time [s],valve"))


def test_the_checks_of_a_fit_are_advice(shown) -> None:
    told = shown(log(skip=range(20, 25)), "-u", "valve", "-y", "level", "--time", "t")
    assert "advice: 5 rows missing after line 22" in told
    assert "--gaps split" in told


def test_what_cannot_be_read_is_said(shown) -> None:
    told = shown("a,b\n1,x\n2,y\n3,z\n")
    assert "text" in told
    assert "no time column found" in told


def test_ranges_show_what_differs_however_large_the_offset(shown) -> None:
    told = shown("u,y\n" + "".join(f"{1e6 + i / 100},{-0.0}\n" for i in range(60)))
    u, y = (next(line for line in told.splitlines() if f" {name} " in line) for name in "uy")
    assert u.split()[2:4] == ["1000000", "1000000.59"]
    assert y.split()[2:4] == ["0", "0"]


def test_advice_names_columns_that_can_be_inputs_and_outputs(shown) -> None:
    told = shown(log())
    assert "e.g. -u valve -y level; there are valve, level" in told
    one = shown("t,x\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    assert "say which columns are outputs, e.g. -y x (nothing else could be an input)" in one
    spaced = shown(log().replace("valve", "valve pos"))
    assert "e.g. -u 'valve pos' -y level; there are valve pos, level" in spaced


def test_several_files_are_shown_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    for file in files:
        Path(file).write_text(log())
    assert main(["show", *files]) == 0
    assert capsys.readouterr().out.count("60 rows") == 2
    assert main(["show"]) == 2
    assert "name a file, e.g. prssm show log.csv" in capsys.readouterr().err
