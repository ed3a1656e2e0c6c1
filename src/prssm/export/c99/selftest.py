"""The self-test that goes with the C code: a recorded run, replayed, and the time of a step."""

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prssm.export import reference
from prssm.export.c99.compiler import build, compiler, name_of
from prssm.export.c99.source import Sources
from prssm.export.description import Description
from prssm.export.targets import ExportSettings
from prssm.export.text import in_comment, render
from prssm.foundation.errors import PrssmError

SELFTEST = "prssm_selftest.c"
_ROWS = 50
_LIMIT = {"double": 1e-9, "single": 1e-2}  # in units of the outputs' deviations
# Functions that a step calls.
_STEP = """prssm_step show emit_all emit deviation draw move join scale_input correlations distances
next_mean excite unsaid unknown lanes_dot dot exp_of larger outside beyond from_cloud tamed"""
_WITHIN = 50.0  # such units: of a run that leaves the data, only the rows before are recorded


@dataclass(frozen=True)
class Measured:
    """What the self-test printed."""

    disagreement: float
    microseconds: float
    state: int
    filter: int
    stack: int | None  # bytes, at most; none where the compiler does not tell
    compiler: str

    def sentence(self, table_bytes: int) -> str:
        """For the comment of the header."""
        stack = "" if self.stack is None else f", at most {self.stack} on the stack in a step"
        return (
            f"A step took {self.microseconds:.3g} us when exported ({self.compiler}, -O3).\n"
            f" * Memory: a state {self.state} bytes, a filter {self.filter}, tables "
            f"{table_bytes}{stack}, no heap."
        )


def selftest(description: Description, settings: ExportSettings, made: Sources) -> str:
    """The text of the program."""
    u, first = _inputs(description, settings.seed)
    run = reference.run(description, u, first if description.window else None, made.draws)
    rows = _steady_rows(description, run.mean)
    kind = np.float32 if settings.precision == "single" else np.float64
    return render(
        "selftest.c",
        title="Self-test of a learnt simulator of "
        + ", ".join(in_comment(column.name) for column in description.outputs),
        limit=_LIMIT[settings.precision],
        rows=rows,
        band=run.std is not None,
        u=u[: max(rows, description.window)].astype(kind),
        first_y=first.astype(kind),
        mean=run.mean[:rows].astype(kind),
        std=None if run.std is None else run.std[:rows].astype(kind),
        unit=np.array([column.std for column in description.outputs]),
    )


def measure(files: dict[str, str], flags: Sequence[str] = ()) -> Measured | None:
    """Compile the files and run the self-test; None where there is no compiler."""
    command = compiler()
    if command is None:
        return None
    with tempfile.TemporaryDirectory(prefix="prssm-export-") as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        program = folder / "selftest"
        stack = _built(command, folder, program, flags)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
    found = dict(line.split() for line in done.stdout.splitlines())
    return Measured(
        disagreement=float(found["disagreement"]),
        microseconds=float(found["microseconds"]),
        state=int(found["state"]),
        filter=int(found["filter"]),
        stack=stack,
        compiler=name_of(command),
    )


def _built(command: Sequence[str], folder: Path, program: Path, flags: Sequence[str]) -> int | None:
    """Compile the program; the stack that a step takes, where the compiler can tell."""
    code = sorted(folder.glob("*.c"))
    try:
        build(command, code, program, [*flags, "-fstack-usage"])
    except PrssmError:
        build(command, code, program, flags)
        return None
    sizes = [
        int(size)
        for path in folder.glob("*prssm_model.su")
        for place, size, _ in (line.split("\t") for line in path.read_text().splitlines())
        # a name may have been given an ending by the compiler
        if place.rsplit(":", 1)[-1].split(".")[0] in _STEP.split()
    ]
    # No function calls itself, so that a step has each of them on the stack once at most.
    return sum(sizes) if sizes else None


def _inputs(description: Description, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs that change every few steps, and first outputs, as large as in training."""
    rng = np.random.default_rng([seed, 7])
    rows = max(_ROWS, description.window)
    held = np.repeat(rng.standard_normal((-(-rows // 5), len(description.inputs))), 5, axis=0)
    u = [column.mean + column.std * held[:rows, i] for i, column in enumerate(description.inputs)]
    drawn = 0.5 * rng.standard_normal((description.window, len(description.outputs)))
    return np.reshape(u, (-1, rows)).T, description.physical_outputs(drawn)


def _steady_rows(description: Description, mean: np.ndarray) -> int:
    scaled = np.abs(description.scaled_outputs(mean)).max(axis=1)
    gone = np.flatnonzero(~(scaled < _WITHIN))
    return max(1, int(gone[0]) if len(gone) else len(mean))
