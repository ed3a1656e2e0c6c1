"""One model used by many threads and forks; recordings of odd shapes; a clock that jumps."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from unittest import mock

import numpy as np

import prssm
from hunt import samples
from prssm.foundation.errors import PrssmError

THREADS = 8


def _models(folder: Path) -> Iterator[prssm.PRSSM]:
    for name in ("linear", "old prssm-default"):
        path = folder / "crowd.prssm"
        path.write_bytes(samples.models(folder)[name])
        yield prssm.load(path)


def threads_on_one_model(folder: Path) -> None:
    """Eight threads get the bits that one gets alone."""
    for model in _models(folder):
        runs = [samples.record(50, seed) for seed in range(THREADS)]
        alone = [model.simulate(run, samples=8).mean for run in runs]
        with ThreadPoolExecutor(THREADS) as pool:
            together = list(pool.map(lambda run, m=model: m.simulate(run, samples=8).mean, runs))
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


def forks_on_one_model(folder: Path) -> None:
    """A forked process gets the bits of its parent, where no JAX has computed before."""
    path = folder / "fork.prssm"
    path.write_bytes(samples.models(folder)["constant"])
    model = prssm.load(path)
    expected = model.simulate(samples.record(50)).mean
    for _ in range(THREADS):
        process = os.fork()
        if not process:
            same = np.array_equal(model.simulate(samples.record(50)).mean, expected)
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def odd_shapes(folder: Path) -> None:
    """300 columns, 1000 short experiments, two rows, one row: fitted, or refused in one line."""
    rng = np.random.default_rng(0)
    wide = prssm.Record(rng.standard_normal((40, 150)), rng.standard_normal((40, 150)))
    short = [prssm.Record(rng.standard_normal(3), rng.standard_normal(3)) for _ in range(1000)]
    for data in (wide, short):
        run = prssm.Constant().fit(data).simulate(data)
        assert run is not None
    _refused(lambda: prssm.Record([1.0], [1.0]), "at least 2 rows")
    two = prssm.Record([1.0, 2.0], [2.0, 1.0])
    for model in (prssm.Constant(), prssm.LinearSSM(order=4)):
        _refused(lambda model=model: model.fit(two), "2 rows")


def a_clock_that_jumps(folder: Path) -> None:
    """The time of day goes forth and back by days; the model is the same, and so are its files."""
    made = []
    for jumps in (False, True):
        with mock.patch("time.time", _jumping(count())) if jumps else nullcontext():
            model = prssm.LinearSSM(order=2).fit(samples.record())
            model.save(folder / "clock.prssm")
        made.append(prssm.load(folder / "clock.prssm").A_)
    np.testing.assert_array_equal(*made)


def _jumping(steps: Iterator[int]) -> Callable[[], float]:
    """A time of day that is days away from what it was before."""
    return lambda: 1e9 + 86_400.0 * (next(steps) % 7 - 3)


def _refused(what: Callable[[], object], word: str) -> None:
    try:
        what()
    except PrssmError as error:
        said = str(error)
    else:
        raise AssertionError("it was taken")
    assert word in said


CROWD = (forks_on_one_model, threads_on_one_model, odd_shapes, a_clock_that_jumps)


def hunt_crowd(folder: Path) -> list[str]:
    """All of them; what went wrong."""
    violations = []
    for scene in CROWD:
        try:
            scene(folder)
        except Exception as error:
            violations.append(f"{scene.__name__}: {type(error).__name__}: {str(error)[:200]}")
    return violations
