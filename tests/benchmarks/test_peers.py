"""The comparison with other packages: what they are given, how choices are made, what is told."""

import importlib.util
import time
from pathlib import Path

import numpy as np
import peer_environments
import peers
import pytest
from peers_page import page

from prssm.data.record import Record

# A peer that answers with what it was given: the mean, and the names and lengths of all arrays.
ECHO = """
import adapter

def fit(task):
    return task.y.mean(), f"{task.start} rows of {len(task.y)}"

def simulate(model, u, y_start):
    import numpy, sys
    data = numpy.load(sys.argv[1])
    assert sorted(data) == ["u", "u_test", "y", "y_start"], sorted(data)
    return numpy.full((len(u), 1), model)

adapter.main(fit, simulate)
"""


def load_adapter():
    spec = importlib.util.spec_from_file_location(
        "adapter", peer_environments.ADAPTERS / "adapter.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "echo.py").write_text(ECHO)
    adapter = (peer_environments.ADAPTERS / "adapter.py").read_text()
    (tmp_path / "adapter.py").write_text(adapter)
    monkeypatch.setattr(peers, "ADAPTERS", tmp_path)
    monkeypatch.setitem(peers.PEERS, "echo", peer_environments.Peer((), "echo.py"))
    t = np.arange(100.0)
    records = Record(t, t), Record(t, t + 7.0)
    monkeypatch.setattr(peers.datasets, "load", lambda name: records)
    return tmp_path


def test_a_peer_gets_the_first_outputs_of_the_test_part_alone(echo: Path) -> None:
    row = peers.compare("echo", "ramp", 5.0, folder=echo)
    assert row["chosen"] == "16 rows of 100"
    late = np.arange(100.0)[16:] + 7.0 - 49.5
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(late**2)))
    assert row["wall_s"] >= 0.0


def test_an_adapter_that_fails_is_an_error_and_no_row(echo: Path) -> None:
    (echo / "echo.py").write_text("raise ValueError('no such thing')")
    with pytest.raises(peers.PeerError, match=r"(?s)echo on ramp: .*no such thing"):
        peers.compare("echo", "ramp", 5.0, folder=echo)


def test_a_choice_is_made_on_the_tail_of_the_training_part() -> None:
    """Constants compete: the best is the one nearest to the tail, whatever came before."""
    adapter = load_adapter()
    y = np.concatenate([np.zeros(75), np.full(25, 3.0)])[:, None]
    task = adapter.Task(y, y, start=16, deadline=time.monotonic() + 60.0)
    seen = []

    def train(choice: float, u: np.ndarray, y: np.ndarray) -> float:
        seen.append(len(y))
        return choice

    def simulate(model: float, u: np.ndarray, y_start: np.ndarray) -> np.ndarray:
        if model == 2.0:
            raise np.linalg.LinAlgError  # runs away: never chosen
        return np.full((len(u), 1), model)

    assert adapter.best_of(task, [0.0, 2.0, 2.5, 9.0], train, simulate) == 2.5
    assert set(seen) == {75}
    late = adapter.Task(y, y, start=16, deadline=time.monotonic() - 1.0)
    assert adapter.best_of(late, [9.0, 2.5], train, simulate) == 9.0  # time for one alone


def test_the_table_says_who_wins_and_who_is_lost() -> None:
    def row(package: str, rmse: float | None) -> dict:
        facts = {"recording": "dryer", "seconds": 120.0, "load": 0.1, "wall_s": 4.4}
        return {"package": package, "rmse": rmse, **facts}

    text = page([row("prssm", 0.12), row("SIPPY", 0.11), row("nfoursid", None)])
    assert "| SIPPY | **0.11** |" in text
    assert "| prssm | 0.12 |" in text
    assert "| nfoursid | lost |" in text
    assert "the machine was idle" in text
