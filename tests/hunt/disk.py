"""A disk that fills, a folder that is read-only: every file is named, and the old one is intact."""

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import prssm
from hunt import samples
from prssm.cli.outputs import write_json
from prssm.data.io.files import write_record
from prssm.data.stream.convert import convert
from prssm.evaluation.comparison import Run
from prssm.evaluation.jobs.results import Results
from prssm.foundation import atomic
from prssm.foundation.errors import WriteError
from prssm.prediction.metrics import evaluate
from prssm.report.fit.page import write_report
from prssm.training.checkpoint import Checkpoint

LINE = {"schema": 1, "key": "a", "outcome": "ok"}


def _report(path: Path) -> None:
    one = samples.record()
    model = prssm.Constant().fit(one)
    predictions = [model.simulate(one)]
    run = Run("training data", predictions, evaluate(predictions, model.scaler_.y_std))
    write_report(path, model, [run], baselines=[], data="log")


WRITERS: dict[str, Callable[[Path], Any]] = {
    **{
        f"a{suffix}": lambda path: write_record(path, samples.record(2000))
        for suffix in (".csv", ".parquet", ".npz", ".mat")
    },
    "a.prssm": lambda path: prssm.Constant().fit(samples.record()).save(path),
    "a.checkpoint": lambda path: Checkpoint(path, "same").save(samples.STATE),
    "a.json": lambda path: write_json(path, {"rmse": [0.5] * 2000}),
    "a.html": _report,
    "rows.f32": lambda path: convert([path.parent / "log.csv"], path.parent),
    "index.json": lambda path: convert([path.parent / "log.csv"], path.parent),
    "experiments.jsonl": lambda path: Results(path.parent).append(LINE, {}),
    "arrays/a.npz": lambda path: Results(path.parent.parent).append(LINE, {"y": np.ones(999)}),
}


class _Full(io.FileIO):
    """A file on a disk that has room for so many bytes."""

    room = 0

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@contextmanager
def full_disk(name: str, room: int) -> Iterator[None]:
    """While inside, a file of that name finds no more room than so many bytes."""
    usual = os.fdopen
    usual_open = Path.open

    def opened(handle: int, mode: str = "r", *more: Any) -> Any:
        where = os.readlink(f"/proc/self/fd/{handle}")
        if name not in where:
            return usual(handle, mode, *more)
        raw = _Full(handle, "wb")
        raw.room = room
        return io.BufferedWriter(raw)

    def opened_path(path: Path, mode: str = "r", *more: Any, **how: Any) -> Any:
        if path.name != name or "a" not in mode:
            return usual_open(path, mode, *more, **how)
        raw = _Full(path, "a+b")
        raw.room = room
        return io.BufferedRandom(raw)

    with (
        mock.patch.object(atomic.os, "fdopen", opened),
        mock.patch.object(Path, "open", opened_path),
    ):
        yield


def hunt_disk(folder: Path) -> list[str]:
    """Every writer on a full disk, with an old file of the same name; what went wrong."""
    violations = []
    for turn, name in enumerate(WRITERS):
        base = folder / str(turn)
        path = base / name
        path.parent.mkdir(parents=True)
        write_record(base / "log.csv", samples.record())
        old = b"" if path.suffix == ".jsonl" else b"what was there before"
        if name != "index.json":  # with an index, there is nothing to convert
            path.write_bytes(old)
        before = {each: each.read_bytes() for each in base.rglob("*") if each.is_file()}
        violations += [f"{name}: {words}" for words in _wrong(name, path)]
        # an empty file of results, and its lock, are what a folder of results begins with
        after = {each for each in base.rglob("*") if each.is_file() and each.stat().st_size}
        for each, content in before.items():
            if each.read_bytes() != content:
                violations.append(f"{name}: {each.name} is not as it was")
        if after - before.keys():
            violations.append(f"{name}: left {[each.name for each in after - before.keys()]}")
    return violations


def _wrong(name: str, path: Path) -> list[str]:
    """What is wrong with the error on a full disk."""
    try:
        with full_disk(path.name, room=20):
            WRITERS[name](path)
    except WriteError as error:
        words = str(error)
        named = path.name in words and ("disk is full" in words or "No space left" in words)
        return [] if named else [f"said {words!r}"]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return ["it was written"]
