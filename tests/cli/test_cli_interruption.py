"""Kill and resume, with the real program and the real method: nothing is lost, and the model is the
same.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from prssm.cli.main import main
from prssm.foundation import storage

ITERATIONS = 6000
TINY = (
    "--latent-dim",
    "2",
    "--inducing",
    "4",
    "--samples",
    "2",
    "--batch",
    "2",
    "--horizon",
    "20",
    "--restarts",
    "1",
    "--recognition-window",
    "4",
    "--preset",
    "paper",
    "--iterations",
    str(ITERATIONS),
)


def wait_until_training(process: subprocess.Popen[str]) -> None:
    """Until the progress bar shows a first count of iterations, e.g. 10/5000."""
    seen = ""
    begun = time.monotonic()
    assert process.stderr is not None
    while not re.search(rf"[1-9]\d*/{ITERATIONS}", seen):
        letter = process.stderr.read(1)
        assert letter, f"the program ended early: {seen}"
        assert time.monotonic() - begun < 120, f"no training within two minutes: {seen}"
        seen += letter


def test_sigterm_saves_and_resume_ends_with_the_same_model(folder: Path) -> None:
    command = ["fit", "plain.csv", *TINY, "--out", "stopped.prssm"]
    process = subprocess.Popen(
        [sys.executable, "-m", "prssm.cli.main", *command],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"FORCE_COLOR": "1"},
    )
    wait_until_training(process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 143
    last_line = err.strip().splitlines()[-1]
    assert re.search(rf"prssm: training interrupted at iteration \d+ of {ITERATIONS}", last_line)
    assert "stopped.prssm.checkpoint" in last_line
    assert "--resume" in last_line
    assert "Traceback" not in err
    assert Path("stopped.prssm.checkpoint").exists()
    assert not Path("stopped.prssm").exists()

    assert main([*command, "--resume", "--quiet"]) == 0
    assert not Path("stopped.prssm.checkpoint").exists()
    assert main(["fit", "plain.csv", *TINY, "--out", "straight.prssm", "--quiet"]) == 0
    (_, resumed), (_, straight) = (
        storage.read(name, "model") for name in ("stopped.prssm", "straight.prssm")
    )
    assert resumed.keys() == straight.keys()
    for name, array in straight.items():
        np.testing.assert_allclose(resumed[name], array, rtol=1e-9, err_msg=name)
