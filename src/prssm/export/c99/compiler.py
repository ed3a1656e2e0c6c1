"""The C compiler of this machine, where there is one."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from prssm.foundation.errors import PrssmError

FLAGS = ("-std=c99", "-O3")
_NAMES = ("cc", "gcc", "clang")


def compiler() -> list[str] | None:
    """The words of its command: $CC, or the first that is installed; None without one."""
    given = shlex.split(os.environ.get("CC", ""))
    for words in (given, *([name] for name in _NAMES)):
        if words and shutil.which(words[0]):
            return words
    return None


def build(command: Sequence[str], files: Sequence[Path], out: Path, flags: Sequence[str]) -> Path:
    """Compile and link `files` into `out`; an error is the compiler's own first line."""
    words = [*command, *FLAGS, *flags, *map(str, files), "-o", str(out), "-lm"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        said = next((line for line in lines if "error" in line), lines[0])
        raise PrssmError(f"{command[0]}: the generated C code was not compiled: {said}")
    return out


def name_of(command: Sequence[str]) -> str:
    """The compiler and its version, in one line."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return lines[0].strip() if lines else command[0]
