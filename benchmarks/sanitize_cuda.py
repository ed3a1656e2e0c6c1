"""The CUDA engine under compute-sanitizer, in half a minute.

    python -m prssm.dynamics.engines.cuda.build && python benchmarks/sanitize_cuda.py

It looks for memory out of bounds, races in shared memory and misuse of barriers. Objectives over 17
steps, each with its gradient, of such sizes that every kernel runs on a GPU of some hundred
processors (though not with every number of points to a thread); a process for each case and tool.
Exits with 1 if a tool found something, or did not finish.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
from speed_gpu import value_and_gradient
from speed_work import Work

from prssm.foundation.precision import double_precision
from prssm.models.prssm.elbo import Draws

TOOLS = ("memcheck", "racecheck", "synccheck")
# XLA's own kernels are not looked at. Its compilation by many threads at once, and its graphs, make
# the sanitizer crash.
SANITIZER = (
    "compute-sanitizer",
    "--kernel-name",
    "kernel_substring=prssm",
    "--error-exitcode",
    "3",
    "--tool",
)
FLAGS = (
    "--xla_gpu_force_compilation_parallelism=1",
    "--xla_gpu_enable_command_buffer=",
    "--xla_gpu_autotune_level=0",
)
SETTINGS = {"XLA_FLAGS": " ".join(FLAGS), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


@dataclass(frozen=True)
class Case:
    """One objective: its sizes, how many models at once, and which engine."""

    work: Work
    restarts: int = 1
    engine: str = "cuda-single"
    draws: Draws = "step"


_work = partial(Work, horizon=17)
CASES = (
    Case(_work(4, 1, 1, points=20, samples=7, batch=10)),
    Case(_work(4, 1, 1, points=20, samples=7, batch=10), restarts=70),
    Case(_work(14, 7, 7, points=50, samples=6, batch=6)),
    Case(_work(3, 2, 1, points=21, samples=5, batch=9), engine="cuda"),
    Case(_work(3, 2, 2, points=33, samples=30, batch=10), restarts=40),
    Case(_work(2, 0, 1, points=7, samples=3, batch=11), draws="trajectory"),
    Case(
        _work(6, 1, 1, points=20, samples=4, batch=10),
        restarts=8,
        engine="cuda",
        draws="trajectory",
    ),
)


def compute(case: Case) -> None:
    with double_precision():
        function, arguments = value_and_gradient(
            case.work, case.restarts, case.engine, draws=case.draws
        )
        jax.block_until_ready(jax.jit(function)(*arguments))
    print("computed")


def finding(tool: str, number: int) -> str | None:
    """What the tool printed, if that was anything but success."""
    result = subprocess.run(
        [*SANITIZER, tool, sys.executable, __file__, "--case", str(number)],
        text=True,
        check=False,
        capture_output=True,
        env={**os.environ, **SETTINGS},
    )
    clean = result.returncode == 0 and "computed" in result.stdout and "0 errors" in result.stdout
    print(
        f"{tool:10} {CASES[number]}: "
        f"{'nothing found' if clean else f'exit status {result.returncode}'}",
        flush=True,
    )
    return None if clean else result.stdout + result.stderr


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--case",
        type=int,
        choices=range(len(CASES)),
        help="compute this case alone, without a sanitizer",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs"), help="folder for what a tool has found"
    )
    arguments = parser.parse_args()
    if arguments.case is not None:
        compute(CASES[arguments.case])
        return 0
    if shutil.which(SANITIZER[0]) is None:
        raise SystemExit(
            f"{SANITIZER[0]} is not on the search path; it comes with the CUDA toolkit"
        )
    tasks = [(tool, number) for tool in TOOLS for number in range(len(CASES))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(tasks, pool.map(lambda task: finding(*task), tasks), strict=True))
    for (tool, number), text in found.items():
        if text is not None:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{tool}-{number}.txt").write_text(text)
    return int(any(text is not None for text in found.values()))


if __name__ == "__main__":
    sys.exit(main())
