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
from prssm.data.io.files import write_record
from prssm.data.stream.convert import convert
from prssm.evaluation.comparison import Run
from prssm.evaluation.jobs.results import Results
from prssm.foundation import atomic
from prssm.foundation.errors import WriteError
from prssm.foundation.plain_json import write_json
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


@contextmanager
def read_only() -> Iterator[None]:
    """While inside, no file can be made; the rights of a folder would not stop an administrator."""
    usual = os.open

    def opened(path: Any, flags: int, *more: Any, **how: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return usual(path, flags, *more, **how)

    with mock.patch.object(atomic.os, "open", opened):
        yield


@contextmanager
def interrupted(point: str) -> Iterator[None]:
    """While inside, a Ctrl-C comes when a file reaches this point of its way to the disk."""
    with mock.patch.object(atomic.os, point, side_effect=KeyboardInterrupt):
        yield


TROUBLES: dict[str, Callable[[str], Any]] = {
    "full": lambda name: full_disk(name, room=20),
    "read-only": lambda name: read_only(),
    "stopped before fsync": lambda name: interrupted("fsync"),
    "stopped before rename": lambda name: interrupted("replace"),
}
# appended to, not replaced: a torn line is cut off by the next one
_APPENDED = {("experiments.jsonl", "read-only"), ("experiments.jsonl", "stopped before rename")}


def hunt_disk(folder: Path) -> list[str]:
    """Every writer in every trouble, with an old file of the same name; what went wrong."""
    violations = []
    for name in WRITERS:
        for trouble in TROUBLES:
            if (name, trouble) in _APPENDED:
                continue
            base = folder / f"{name.replace('/', '-')} {trouble}"
            found = _in_trouble(name, trouble, base)
            violations += [f"{name}, {trouble}: {words}" for words in found]
    return violations


def _in_trouble(name: str, trouble: str, base: Path) -> list[str]:
    path = base / name
    path.parent.mkdir(parents=True)
    write_record(base / "log.csv", samples.record())
    if path.name not in ("index.json", "experiments.jsonl"):
        path.write_bytes(b"what was there before")
    before = {each: each.read_bytes() for each in base.rglob("*") if each.is_file()}
    violations = list(_wrong(name, path, trouble))
    # an empty file of results, and its lock, are what a folder of results begins with
    after = {each for each in base.rglob("*") if each.is_file() and each.stat().st_size}
    torn = {path} if path.suffix == ".jsonl" else set()
    for each, content in before.items():
        if each.read_bytes() != content:
            violations.append(f"{each.name} is not as it was")
    if after - before.keys() - torn:
        violations.append(f"left {[each.name for each in after - before.keys()]}")
    return violations


def _wrong(name: str, path: Path, trouble: str) -> Iterator[str]:
    """What is wrong with the error."""
    expected = {"full": ("disk is full", "No space left"), "read-only": ("Read-only",)}
    try:
        with TROUBLES[trouble](path.name):
            WRITERS[name](path)
    except KeyboardInterrupt:
        if trouble in expected:
            yield "nobody pressed Ctrl-C"
    except WriteError as error:
        words = str(error)
        if not any(each in words for each in expected.get(trouble, ())):
            yield f"said {words!r}"
        # of the two files of a stream, the first one meets a folder that is read-only
        if path.name not in words and not (trouble == "read-only" and name == "index.json"):
            yield f"does not name it: {words!r}"
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
    else:
        yield "it was written"
