"""The words for many devices, several processes and streams."""

from collections.abc import Callable
from pathlib import Path

import pytest

from prssm.cli.main import main
from prssm.cli.merging import merge
from prssm.cli.settings import FitWords, fit_settings
from prssm.data.record import Record
from prssm.data.stream.stream import Stream
from prssm.foundation.errors import OptionError, TrainingError
from prssm.models.prssm.estimator import PRSSM


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--devices", "some"), "--devices: expected a whole number or 'auto', got 'some'"),
        (("--processes", "2"), "--processes: expected together with --coordinator"),
        (("--process", "0"), "--process: expected together with --coordinator"),
        (("--coordinator", "here"), "coordinator: expected host:port"),
        (("--coordinator", "here:1", "--processes", "2"), "which one this is"),
        (("--devices", "7"), "devices: expected 1 to 1"),
        (("--stream", "other"), "--stream: expected it instead of data, got plain.csv too"),
    ],
)
def test_words_that_cannot_be_meant(
    folder: Path, refused: Callable[..., str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused("fit", "plain.csv", "--method", "constant", *words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("devices = true", "devices: expected a whole number or 'auto', got True"),
        ("process = 0.5", "process: expected a whole number, got 0.5"),
    ],
)
def test_words_in_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(f'data = "log.csv"\n{text}\n')
    with pytest.raises(OptionError, match=message):
        merge((), FitWords(config=str(path)), {})
    path.write_text('data = "log.csv"\ndevices = 2\ncoordinator = "auto"\nprocesses = 2\n')
    settings = fit_settings(merge((), FitWords(config=str(path)), {}))
    assert (settings.devices, settings.processes.processes) == (2, 2)


def test_convert_then_fit_from_the_stream(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fit_records(model: PRSSM, records: list[Record], *rest: object) -> None:
        assert [len(record) for record in records] == [120, 120]
        raise TrainingError("far enough")  # training has its own tests

    def fit_stream(model: PRSSM, stream: Stream, *rest: object) -> None:
        assert (stream.steps, model.config.complexity) == (240, "free")
        raise TrainingError("from disk")

    monkeypatch.setattr(PRSSM, "_fit_scaled", fit_records)
    monkeypatch.setattr(PRSSM, "_fit_stream", fit_stream)
    columns = ["-u", "valve", "-y", "pressure", "--time", "t"]
    assert main(["convert", "log.csv", "log.csv", *columns, "--out", "logs.stream"]) == 0
    assert "2 experiment(s), 240 rows, inputs: valve, outputs: pressure" in capsys.readouterr().out
    assert main(["fit", "--stream", "logs.stream"]) == 2
    said = capsys.readouterr().err
    assert "far enough" in said
    assert main(["fit", "--stream", "logs.stream", "--complexity", "free"]) == 2
    assert "from disk" in capsys.readouterr().err
    scored = ["--test", "log.csv", "--time", "t"]  # the time column of the file that is scored
    assert main(["fit", "--stream", "logs.stream", *scored]) == 2
    said = capsys.readouterr().err
    assert "far enough" in said
    assert "caution" not in said


def test_convert_says_how_several_columns_are_written(
    folder: Path, refused: Callable[..., str]
) -> None:
    words = ("-u", "valve", "t", "-y", "pressure", "--out", "none.stream")
    assert "got 't', which is a column of log.csv" in refused("convert", "log.csv", *words)


def test_convert_reads_time_as_fit_does(
    folder: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("log.csv").read_text().splitlines()
    Path("gap.csv").write_text("\n".join(lines[:50] + lines[60:]) + "\n")
    words = ("convert", "gap.csv", "-u", "valve", "-y", "pressure", "--time", "t")
    assert "--gaps split makes experiments" in refused(*words, "--out", "none.stream")
    capsys.readouterr()
    assert main([*words, "--out", "parts.stream", "--gaps", "split"]) == 0
    assert "2 experiment(s), 110 rows" in capsys.readouterr().out


def test_a_stream_brings_its_own_columns(folder: Path, refused: Callable[..., str]) -> None:
    assert "--inputs: the stream 'logs' was converted already" in refused(
        "fit", "--stream", "logs", "-u", "valve"
    )
    assert "no index.json" in refused("fit", "--stream", "logs", "--method", "constant")
