"""Signals to a program that starts: one line and the exit code of a signal, never a crash."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hunt import samples
from hunt.kills import CODES
from prssm.data.io.files import write_record

LONGEST = 8.0  # seconds after which a signal may come
_WORDS = ("fit", "log.csv", "--out", "model.prssm", "--quiet", "--iterations", "3000")


@dataclass
class Started:
    """What came of the signals."""

    ended: int = 0
    before: int = 0  # Python itself was still starting: nothing of ours could answer
    violations: list[str] = field(default_factory=list)


def hunt_starts(count: int, seed: int) -> Started:
    """So many programs, each with a signal at a random moment."""
    rng = np.random.default_rng(seed)
    tally = Started()
    with tempfile.TemporaryDirectory() as folder:
        write_record(Path(folder) / "log.csv", samples.record(400))
        for _ in range(count):
            number = signal.Signals(int(rng.choice([signal.SIGINT, signal.SIGTERM])))
            moment = float(rng.uniform(0.0, LONGEST))
            _start(number, moment, folder=folder, tally=tally)
    return tally


def _start(number: signal.Signals, moment: float, folder: str, tally: Started) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "prssm", *_WORDS],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    time.sleep(moment)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    tally.ended += 1
    if process.returncode == -number and f"{os.sep}prssm{os.sep}" not in said:
        tally.before += 1
    elif process.returncode not in (CODES[number], 0) or "Traceback" in said:
        words = f"{number.name} at {moment:.2f} s ended in {process.returncode}: {said[-300:]!r}"
        tally.violations.append(words)
        print("VIOLATION", words, flush=True)
