"""The CUDA engine under compute-sanitizer: memory out of bounds, races in shared memory, misuse of
barriers. Half a minute.

    python -m prssm.dynamics.engines.cuda.build && python benchmarks/sanitize_cuda.py

Objectives over 17 steps, each with its gradient, of such sizes that every kernel runs on a GPU of
some hundred processors (though not with every number of points to a thread); a process for each
case and tool. Exits with 1 if a tool found something, or did not finish.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    work: Work
    restarts: int = 1
    engine: str = "cuda-single"
    draws: Draws = "step"


CASES = (
    Case(Work(4, 1, 1, 20, 7, 10, 17)),
    Case(Work(4, 1, 1, 20, 7, 10, 17), restarts=70),
    Case(Work(14, 7, 7, 50, 6, 6, 17)),
    Case(Work(3, 2, 1, 21, 5, 9, 17), engine="cuda"),
    Case(Work(3, 2, 2, 33, 30, 10, 17), restarts=40),
    Case(Work(2, 0, 1, 7, 3, 11, 17), draws="trajectory"),
    Case(Work(6, 1, 1, 20, 4, 10, 17), restarts=8, engine="cuda", draws="trajectory"),
)


def compute(case: Case) -> None:
    with double_precision():
        function, arguments = value_and_gradient(case.work, case.restarts, case.engine, case.draws)
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
