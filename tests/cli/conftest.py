"""What a user has lying around: a folder with a log in it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from prssm.cli.main import main
from prssm.data.io.files import write_columns


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder to work in, with log.csv (valve, pressure, t), plain.csv (u, y) and
    inputs.csv (u alone).
    """
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(0)
    u = np.repeat(noise.uniform(-1.0, 1.0, 12), 10)
    y = np.zeros(len(u))
    for t in range(1, len(u)):
        y[t] = 0.8 * y[t - 1] + 0.4 * u[t - 1] + 0.01 * noise.normal()
    write_columns("log.csv", {"t": np.arange(len(u)) * 0.5, "valve": u, "pressure": y})
    write_columns("plain.csv", {"u": u, "y": y})
    write_columns("inputs.csv", {"u": u})
    return tmp_path


@pytest.fixture
def one_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear row has its own tests; without it the commands answer at once."""
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant",))


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command line that must fail as a user's mistake: exit code 2 and one line, which is
    returned.
    """

    def run(*words: str) -> str:
        assert main(words) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("prssm: ")
        assert captured.err.count("\n") == 1
        return captured.err

    return run
