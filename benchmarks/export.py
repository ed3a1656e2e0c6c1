"""Exported models: time of a step and size of every target, and how far they are from the model.

python benchmarks/export.py                    a table for a model of the default sizes
python benchmarks/export.py --fuzz 1000        and the largest disagreement over random models
python benchmarks/export.py model.prssm        the same table for a model of your own

Times are CPU time, the best of some rounds.
"""

import argparse
import ctypes
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from export_fuzz import disagreement, summary
from fitted_models import random_prssm, record_for

import prssm
from prssm.export.c99.compiler import build, compiler
from prssm.export.c99.selftest import SELFTEST, measure
from prssm.export.c99.target import c_files
from prssm.export.describing import describe
from prssm.export.reference import run
from prssm.export.targets import ExportSettings
from prssm.models.estimator import Estimator

SAMPLES = 50
_STEPS = 1000


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    microseconds: float | None  # of a step
    size: int | None  # bytes


def best(work: Callable[[], None], steps: int, rounds: int = 5) -> float:
    """Microseconds of CPU time for one of the steps that `work` does."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1e6 * min(times) / steps


def of_c(model: Estimator, samples: int, precision: str, flags: tuple[str, ...] = ()) -> Row:
    """Compiled and timed by its own self-test; the size is that of the object code."""
    files = c_files(describe(model), ExportSettings(samples=samples, precision=precision))
    measured = measure(files, flags)
    assert measured is not None, "needs a C compiler"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            if file != SELFTEST:
                (folder / file).write_text(text, encoding="utf-8")
        command = compiler()
        assert command is not None
        size = build(command, [folder / "prssm_model.c"], folder / "model.o", ["-c"]).stat().st_size
    words = f"C, {_band(samples)}, {precision}{' ' if flags else ''}{' '.join(flags)}"
    return Row(words, measured.microseconds, size)


def of_fmu(model: Estimator, version: int, samples: int) -> Row:
    """One communication step that is a thousand steps of the model."""
    with tempfile.TemporaryDirectory() as name:
        path = prssm.export(
            model, to=f"fmu{version}", out=Path(name) / "plant.fmu", samples=samples
        )
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            archive.extractall(name)
        (library,) = (Path(name) / "binaries").rglob("plant.*")
        step = _fmu_step(ctypes.CDLL(str(library)), version, Path(name), model)
        return Row(f"FMU {version}.0, {_band(samples)}", best(step, _STEPS), size)


def _fmu_step(
    code: ctypes.CDLL, version: int, folder: Path, model: Estimator
) -> Callable[[], None]:
    text = (folder / "modelDescription.xml").read_text(encoding="utf-8")
    word = "guid" if version == 2 else "instantiationToken"
    token = text.split(f'{word}="')[1].split('"')[0].encode()
    none = ctypes.c_void_p(None)
    if version == 2:
        make = code.fmi2Instantiate
        arguments: tuple = (b"plant", 1, token, b"", none, 0, 0)
    else:
        make = code.fmi3InstantiateCoSimulation
        arguments = (b"plant", token, b"", False, False, False, False, none, 0, none, none, none)
    make.restype = ctypes.c_void_p
    instance = ctypes.c_void_p(make(*arguments))
    if version == 2:
        code.fmi2EnterInitializationMode(instance)
        code.fmi2ExitInitializationMode(instance)
    else:
        zero = ctypes.c_double(0.0)
        code.fmi3EnterInitializationMode(instance, False, zero, zero, False, zero)
        code.fmi3ExitInitializationMode(instance)
    size = ctypes.c_double(_STEPS * describe(model).step_size)
    flags = [ctypes.byref(ctypes.c_bool()) for _ in range(3)]
    more = [] if version == 2 else [*flags, ctypes.byref(ctypes.c_double())]
    do_step = code.fmi2DoStep if version == 2 else code.fmi3DoStep

    def step() -> None:
        assert do_step(instance, ctypes.c_double(0.0), size, False, *more) == 0

    return step


def of_python(model: Estimator, folder: Path) -> list[Row]:
    """What Python offers: stepper, simulate, and the slow reference."""
    u, y = record_for(model, rows=_STEPS * model.stride_)
    size = model.save(folder / "model.prssm").stat().st_size
    rows = []
    if isinstance(model, prssm.PRSSM):
        stepper = model.stepper(best=True)
        first = stepper.start(u, y)

        def steps() -> None:
            x = first
            for row in u[:_STEPS]:
                x = stepper(x, row).state

        rows.append(Row("stepper (mean of the best member)", best(steps, _STEPS), size))
    rows.append(
        Row(
            f"simulate, {SAMPLES} samples",
            best(lambda: model.simulate(u, y, samples=SAMPLES), _STEPS, rounds=3),
            size,
        )
    )
    description = describe(model)
    slow = u[: max(100, description.window)]
    rows.append(
        Row("NumPy reference, mean", best(lambda: run(description, slow, y), len(slow), 2), None)
    )
    return rows


def _band(samples: int) -> str:
    return f"{samples} samples" if samples else "mean"


def table(model: Estimator) -> list[Row]:
    """All rows for a model."""
    with tempfile.TemporaryDirectory() as name:
        rows = of_python(model, Path(name))
    for samples in (0, SAMPLES):
        for precision in ("double", "single"):
            rows.append(of_c(model, samples, precision))
    rows.append(of_c(model, 0, "double", ("-march=native",)))
    rows.append(of_c(model, SAMPLES, "double", ("-march=native",)))
    for version in (2, 3):
        rows.append(of_fmu(model, version, SAMPLES))
    return rows


def written(rows: list[Row]) -> str:
    """The table in Markdown."""
    lines = ["| form | microseconds a step | kB |", "|---|---|---|"]
    for row in rows:
        took = "-" if row.microseconds is None else f"{row.microseconds:.3g}"
        size = "-" if row.size is None else f"{row.size / 1000:.0f}"
        lines.append(f"| {row.what} | {took} | {size} |")
    return "\n".join(lines)


def default_model() -> Estimator:
    """A little more than a default fit of few rows has: four members, six states, ten points."""
    return random_prssm(
        states=6,
        points=10,
        members=4,
        recognition_window=16,
        recognition_hidden=32,
        horizon=100,
        seen=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", help="a model file; else one of the default sizes")
    parser.add_argument("--fuzz", type=int, default=0, help="how many random models to compare")
    parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
    arguments = parser.parse_args()
    model = prssm.load(arguments.model) if arguments.model else default_model()
    print(written(table(model)))
    cases = []
    for seed in range(arguments.first, arguments.first + arguments.fuzz):
        with tempfile.TemporaryDirectory() as name:
            cases.append(disagreement(seed, Path(name)))
    if cases:
        print("\n".join(summary(cases)))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
