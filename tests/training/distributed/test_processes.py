"""Two processes over loopback train the model that one trains, and the loss of one loses
nothing.
"""

import re
import socket
import subprocess
import sys
from pathlib import Path

import joined_run
import numpy as np
import pytest

import prssm
from prssm.foundation.errors import OptionError, ProcessError
from prssm.training.distributed import processes, store


@pytest.fixture(scope="module")
def alone():
    """By JAX, as on many devices: compiled training on one device draws other random numbers."""
    options = joined_run.TINY | {"engine": "adjoint"}
    return prssm.PRSSM("paper", **options).fit(joined_run.log())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int], list[str]]:
    """The folder in which two processes have worked, their exit codes and what they said on
    standard error.
    """
    folder = tmp_path_factory.mktemp("pair")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, joined_run.__file__, folder, port, str(process)],
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for process in (0, 1)
    ]
    said = [process.communicate(timeout=300)[1] for process in started]
    return folder, [process.returncode for process in started], said


def close(model, other) -> None:
    (_, arrays) = model._state()
    (_, others) = other._state()
    for name, array in arrays.items():
        np.testing.assert_allclose(others[name], array, rtol=1e-7, atol=1e-9, err_msg=name)


def test_two_processes_train_the_model_that_one_trains(pair, alone):
    close(alone, prssm.load(pair[0] / "whole.prssm"))


def test_only_process_0_writes_files(pair):
    written = {path.name for path in pair[0].iterdir() if path.suffix != ".txt"}
    assert written == {"whole.prssm", "whole0.checkpoint", "lost0.checkpoint"}


def test_all_start_from_what_process_0_has_whatever_its_shape(pair):
    assert [(pair[0] / f"told{process}.txt").read_text() for process in (0, 1)] == [
        "[7, 7]",
        "[7, 7]",
    ]


def test_a_lost_process_ends_the_run_with_one_line(pair):
    _, codes, said = pair
    assert codes == [5, 9]
    lines = [line for line in said[0].splitlines() if "prssm" in line]
    assert len(lines) == 1, said[0]
    assert re.search(
        rf"a process was lost .*training stopped at iteration {joined_run.LOST_AT} of 20; resume "
        r"from .*lost0",
        lines[0],
    )
    assert "Traceback" not in said[0]


def test_the_saved_run_goes_on_with_another_number_of_processes(pair, alone):
    resumed = prssm.PRSSM("paper", **joined_run.TINY).fit(
        joined_run.log(), checkpoint=pair[0] / "lost0.checkpoint", resume=True
    )
    close(alone, resumed)


class FakeStore:
    """A store in which another process has already put its texts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
        self.texts: dict[str, str] = {}
        self.other = other
        monkeypatch.setattr(store, "count", lambda: 2)
        monkeypatch.setattr(store, "put", self.texts.__setitem__)
        monkeypatch.setattr(
            store, "get", lambda key, wait_seconds=0.0: self.texts.get(key, self.other)
        )


def test_processes_of_other_versions_are_refused(monkeypatch):
    FakeStore(monkeypatch, "prssm 0.0.1 and jax 0.1")
    with pytest.raises(
        ProcessError,
        match=r"versions: expected the same.*'prssm 0.0.1 and jax 0.1' in process 1 and",
    ):
        processes.agree("versions", "prssm 2 and jax 3")


def test_processes_of_the_same_versions_agree(monkeypatch):
    FakeStore(monkeypatch, "prssm 2 and jax 3")
    processes.agree("versions", "prssm 2 and jax 3")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "UNKNOWN: Gloo all-reduce failed: [a/pair.cc:547] Connection closed by peer [::1]:5",
            r"lost \(Connection closed by",
        ),
        ("UNAVAILABLE: NCCL operation failed", "NCCL"),
    ],
)
def test_errors_of_the_transport_mean_a_loss(monkeypatch, text, shown):
    monkeypatch.setattr(store, "count", lambda: 2)
    monkeypatch.setattr(store, "last_words", lambda: None)
    with pytest.raises(ProcessError, match=shown), processes.noticing_losses():
        raise ValueError(text)


def test_other_errors_stay_what_they_are(monkeypatch):
    monkeypatch.setattr(store, "count", lambda: 2)
    with pytest.raises(ValueError, match="shapes"), processes.noticing_losses():
        raise ValueError("incompatible shapes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("here",), "coordinator: expected host:port"),
        (("a:1", 2), "how many processes there are and which one"),
        (("a:1", 2, 2), "process: expected 0 to 1, got 2"),
        (("a:1", 0, 0), "processes: expected at least 1, got 0"),
    ],
)
def test_words_that_cannot_be_meant(words, message):
    with pytest.raises(OptionError, match=message):
        processes.join(*words)
