"""Ctrl-C and SIGTERM: acknowledged within a second, over within three, whatever computes."""

import os
import signal
import subprocess
import sys
import time

import pytest

LINES = 20.0  # seconds for what takes three at most; this machine may be busy

BUSY = """
import sys
from prssm.cli import main as program
from prssm.training.distributed.watch import rescued_by

def compute():
    with rescued_by(lambda words: f"{words}; saved"):
        print("computing", flush=True)
        {what}

program.app = lambda words, **_: compute()
sys.argv = ["prssm"]
program.main()
"""
IN_COMPILED_CODE = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"
IN_A_FINALISER = """
        class Lost:
            def __del__(self):
                for _ in range(10**9): pass
        Lost()
        import time; time.sleep(60)"""
IN_AN_IMPORT = """
        import pathlib, tempfile
        folder = tempfile.mkdtemp(); sys.path.insert(0, folder)
        pathlib.Path(folder, "slow.py").write_text("import time; time.sleep(60)")
        import slow"""


def stopped(code: str, number: int) -> tuple[int, list[str], float]:
    """Exit code, lines on standard error and seconds of a program that is sent a signal."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "computing\n"
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err.splitlines(), time.monotonic() - begun


@pytest.mark.parametrize(
    ("what", "waits"), [(IN_COMPILED_CODE, True), (IN_A_FINALISER, True), (IN_AN_IMPORT, False)]
)
def test_a_signal_ends_the_program_wherever_it_is(what, waits):
    code, lines, seconds = stopped(BUSY.replace("{what}", what), signal.SIGINT)
    acknowledged = ["prssm: stopping; once more ends it without saving"] if waits else []
    assert lines == [*acknowledged, "prssm: interrupted; saved"]
    assert code == 130
    assert seconds < LINES


def test_sigterm_has_its_own_exit_code():
    code, lines, _ = stopped(BUSY.replace("{what}", "import time; time.sleep(60)"), signal.SIGTERM)
    assert (code, lines) == (143, ["prssm: ended by SIGTERM"])


def test_a_signal_while_the_program_starts_shows_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-c", "from prssm.cli.entry import main; print('in'); main()", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "prssm: interrupted\n")
