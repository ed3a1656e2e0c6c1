"""A process that works through cases, so that a crash or a bomb ends it and not the hunt.

It reads lines `reader seed` and answers each with a line of JSON: how the case ended, how long it
took, how much memory it needed. What it should not have said on standard error is a finding.
"""

import json
import os
import resource
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from hunt import samples
from hunt.corpus import CORPUS
from hunt.readers import READERS
from prssm.foundation.errors import LONGEST, PrssmError

MEMORY_GB = 2.0
_RUST = "panicked at crates/polars"
_HARD_LIMIT = 12 << 30  # of address space, much of which JAX only reserves


def run_case(name: str, seed: str, folder: Path) -> tuple[str, str]:
    """'ok', 'refused' or 'violation', and the words."""
    try:
        if name == "corpus":
            CORPUS[seed](folder)
        else:
            reader = READERS[name]
            rng = np.random.default_rng([int(seed), zlib.crc32(name.encode())])
            reader.use(reader.damaged(folder, rng))
    except PrssmError as error:
        words = str(error)
        if "\n" in words or len(words) > LONGEST:
            return "violation", f"a message of {len(words)} characters: {words[:200]!r}"
        return "refused", words
    except BaseException as error:
        return "violation", f"{type(error).__name__}: {str(error)[:200]}"
    return "ok", ""


def _peak_gb() -> float:
    """Of this process since the last call."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return int(peak.split()[1]) / 1e6


def serve() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_HARD_LIMIT, _HARD_LIMIT))
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)  # what compiled code says, too
        os.chdir(folder)
        samples.make_all(Path(folder))  # their time and memory belong to no case
        _peak_gb()
        for line in sys.stdin:
            name, seed = line.split()
            begun = time.monotonic()
            outcome, words = run_case(name, seed, Path(folder))
            answer: dict[str, Any] = {"outcome": outcome, "words": words}
            answer["seconds"] = time.monotonic() - begun
            answer["gigabytes"] = _peak_gb()
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            said.seek(0)
            said.truncate()
            if _RUST in text and outcome == "refused":
                text = ""  # polars says it first; docs/reference/reliability.md tells
            if text and outcome != "violation":
                answer |= {"outcome": "violation", "words": f"said {text[:200]!r}"}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
