"""The process of a job: started apart from the server, found again, and told to stop.

Its standard output and error go to files beside the job, so that they outlive the server.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NICE = 5  # training gives way to the page
_LAST = 4000  # bytes of an output file that are looked at
_NOISE = ("stopping; once more ends it",)


def start(words: Sequence[str], folder: Path, files: Path) -> "subprocess.Popen[bytes]":
    """Run `prssm` with these words in the project folder.

    A session of its own: Ctrl-C at the server's terminal does not reach it.
    """
    with files.with_suffix(".out").open("wb") as out, files.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(
            [*PROGRAM, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
    return process


PROGRAM = [sys.executable, "-m", "prssm"]


def mark_of(pid: int) -> str:
    """When the process with this number began, as far as the system says."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_alive(pid: int | None, mark: str) -> bool:
    """Whether the process still runs, and is the one that was meant."""
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return not mark or mark_of(pid) == mark


def stop(pid: int) -> None:
    """Ask a fit to end: it keeps the best model so far and where it was.

    By SIGTERM, since SIGINT does not reach what a script has started in the background.
    """
    with suppress(OSError):
        os.kill(pid, signal.SIGTERM)


def last_line(file: Path) -> str:
    """The last line that says something."""
    for line in reversed(_tail(file).splitlines()):
        text = line.strip().removeprefix("prssm: ")
        if text and not text.startswith(_NOISE):
            return text
    return ""


def has_finished(files: Path) -> bool:
    """Whether the command has said its last word: where the model is."""
    lines = _tail(files.with_suffix(".out")).splitlines()
    return any(line.startswith("model: ") for line in lines)


def _tail(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _LAST))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
