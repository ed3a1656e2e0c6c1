"""One command of `prssm` in this process, and where its time goes; for benchmarks/fit_time.py.

    python benchmarks/fit_phases.py BEGUN words of the command ...

BEGUN is the time (seconds since 1970) at which the process was started. The last line on standard
error is JSON: the seconds of each phase, all of them together, and those until the first usable
model was saved. The package knows nothing of this: the functions at which a phase begins and ends
are wrapped here.
"""

import functools
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

IMPORT = "import"
START = "linear start"
COMPILE = "compile"
TRAIN = "train"
CHOOSE = "choose"
SAVE = "save"
REST = "rest"
PHASES = (IMPORT, START, COMPILE, TRAIN, CHOOSE, SAVE, REST)


class Phases:
    """Seconds of each phase. A phase within another one is not counted twice."""

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.first_model: float | None = None
        self._inner = [0.0]  # seconds of the phases within each open one

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """The time of the block counts for `name`, save that of phases within it."""
        begun = time.perf_counter()
        self._inner.append(0.0)
        try:
            yield
        finally:
            whole = time.perf_counter() - begun
            self.seconds[name] += whole - self._inner.pop()
            self._inner[-1] += whole

    def add(self, name: str, seconds: float) -> None:
        """So many seconds of the open phase were `name`'s."""
        self.seconds[name] += seconds
        self._inner[-1] += seconds

    def wrap(self, owner: Any, function: str, name: str) -> None:
        """Every call of `owner.function` is a phase."""
        inner = getattr(owner, function)

        @functools.wraps(inner)
        def timed(*words: Any, **named: Any) -> Any:
            with self.phase(name):
                found = inner(*words, **named)
            if name == SAVE and self.first_model is None:
                self.first_model = time.time() - self.begun
            return found

        setattr(owner, function, timed)

    def record(self) -> dict[str, Any]:
        """All seconds; the rest is what no phase counted."""
        total = time.time() - self.begun
        known = sum(self.seconds[name] for name in PHASES if name != REST)
        return {
            "total": total,
            "first_model": self.first_model,
            "phases": self.seconds | {REST: total - known},
        }


def watch(phases: Phases) -> None:
    """Import what a command needs, and wrap where its phases begin."""
    import jax.monitoring

    from prssm.models import files
    from prssm.models.prssm import estimator
    from prssm.models.prssm.estimator import PRSSM
    from prssm.models.prssm.fitting.trainers import CompiledTrainer

    def compiled(event: str, seconds: float, **_: Any) -> None:
        if event.endswith("backend_compile_duration"):
            phases.add(COMPILE, seconds)

    jax.monitoring.register_event_duration_secs_listener(compiled)
    phases.wrap(estimator, "starts_for", START)
    phases.wrap(estimator, "prepared", START)
    phases.wrap(CompiledTrainer, "advance", TRAIN)
    phases.wrap(files, "save_model", SAVE)
    phases.wrap(PRSSM, "fit", CHOOSE)  # what the phases within it leave: runs that judge


def main() -> int:
    begun, *words = sys.argv[1:]
    phases = Phases(float(begun))
    from prssm.cli import compiled_code
    from prssm.cli.main import main as command

    compiled_code.keep()
    watch(phases)
    phases.seconds[IMPORT] = time.time() - phases.begun
    code = command(words)
    print(json.dumps(phases.record()), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
