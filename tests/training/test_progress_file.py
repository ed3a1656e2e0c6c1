"""Progress for a program outside: whole lines, not too many, and nothing but finite numbers."""

import json
from pathlib import Path

import numpy as np

from prssm.training.progress_file import EVERY, ProgressFile


def test_lines_say_phase_and_steps(tmp_path: Path) -> None:
    now = [0.0]
    file = tmp_path / "deep" / "fit.progress"
    watcher = ProgressFile(file, clock=lambda: now[0])
    watcher.phase("reading")
    watcher.start(total=100, done=10, label="training")
    watcher.update(11, {"ELBO": 1.0})  # too soon after the last line
    now[0] = EVERY
    watcher.update(40, {"ELBO": np.float64(2.5), "bad": float("nan")})
    watcher.stop()
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lines == [
        {"phase": "reading", "seconds": 0.0},
        {"phase": "training", "done": 10, "total": 100, "seconds": 0.0},
        {
            "phase": "training",
            "done": 40,
            "total": 100,
            "figures": {"ELBO": 2.5},
            "seconds": EVERY,
        },
    ]


def test_a_new_run_begins_a_new_file(tmp_path: Path) -> None:
    ProgressFile(tmp_path / "a").phase("first")
    ProgressFile(tmp_path / "a")
    assert (tmp_path / "a").read_text(encoding="utf-8") == ""
