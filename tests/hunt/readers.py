"""What the hunt reads: for every kind of input how it is damaged, and how a user would use it.

A new reader is a class with `name`, `damaged` and `use`, and a line in READERS. `use` must end
well or raise a PrssmError of one line; what it returns must be usable.
"""

import contextlib
import io
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors.numpy import load as parse_arrays
from safetensors.numpy import save as format_arrays

import prssm
from hunt import samples
from hunt.mutations import (
    ODD_TEXTS,
    Random,
    damaged_arrays,
    damaged_bytes,
    damaged_json,
    damaged_settings,
    damaged_text,
    damaged_zip,
    pick,
)
from prssm.cli.main import main
from prssm.cli.merging import merge
from prssm.cli.settings import FitWords, fit_settings
from prssm.data.io.files import open_columns
from prssm.data.stream.stream import Stream
from prssm.evaluation.jobs.results import Results
from prssm.evaluation.tasks.fit import build
from prssm.models.constant import Constant
from prssm.training.checkpoint import Checkpoint

SIMULATED = ("constant", "linear", "prssm")  # the others would compile for each shape


def _npy(content: bytes, rng: Random) -> bytes:
    """Damage to an array's header more often than to its numbers."""
    return damaged_bytes(content[:128], rng) + content[128:]


def _safetensors(content: bytes, rng: Random) -> bytes:
    if rng.random() < 0.2:
        return damaged_bytes(content, rng)
    return format_arrays(damaged_arrays(parse_arrays(content), rng))


class Recordings:
    """A file of a recording: its columns, a Record, a fit of the simplest model."""

    damages: ClassVar = {
        ".csv": lambda content, rng: pick(rng, (damaged_bytes, damaged_text))(content, rng),
        ".npz": damaged_zip({".npy": _npy}),
        ".xlsx": damaged_zip({".xml": damaged_bytes}),
    }

    def __init__(self, suffix: str) -> None:
        self.name = suffix[1:]
        self.suffix = suffix

    def damaged(self, folder: Path, rng: Random) -> Path:
        whole = pick(rng, samples.recordings(folder)[self.suffix])
        path = folder / f"case{self.suffix}"
        path.write_bytes(self.damages.get(self.suffix, damaged_bytes)(whole, rng))
        return path

    def use(self, path: Path) -> None:
        names = open_columns(path).names[:20]
        found: Any = prssm.read(path, inputs=names[:1], outputs=names[1:3])
        records = found if isinstance(found, list) else [found]  # cells are experiments
        for run in Constant().fit(records).simulate(records):
            assert np.isfinite(run.mean).all(), "the mean is not finite"


class Models:
    """A model file: loaded, described, run over a record, saved again."""

    name = "model"

    def damaged(self, folder: Path, rng: Random) -> Path:
        whole = pick(rng, samples.models(folder).values())
        damages = {".json": damaged_json, ".safetensors": _safetensors}
        path = folder / "case.prssm"
        path.write_bytes(damaged_zip(damages)(whole, rng))
        return path

    def use(self, path: Path) -> None:
        model: Any = prssm.load(path)
        model.findings()
        model.save(path.with_name("again.prssm"))
        inputs = len(model.input_names_)
        if model.name in SIMULATED and inputs < 50 and len(model.output_names_) < 50:
            u = np.zeros((40, inputs)) if inputs else None
            y = np.zeros((40, len(model.output_names_)))
            run = model.simulate(prssm.Record(u, y, model.dt_), samples=4)
            assert np.isfinite(run.mean).all() or _explodes(run.mean), (
                f"not finite: {run.mean[:3].ravel()}"
            )


def _explodes(mean: np.ndarray) -> bool:
    """An unstable model may leave all bounds, but it begins with numbers."""
    return bool(np.isfinite(mean[:1]).all())


class Checkpoints:
    """A checkpoint: what is gone on with is what was saved."""

    name = "checkpoint"

    def damaged(self, folder: Path, rng: Random) -> Path:
        damages = {".json": damaged_json, ".safetensors": _safetensors}
        path = folder / "case.checkpoint"
        path.write_bytes(damaged_zip(damages)(samples.checkpoint(folder), rng))
        return path

    def use(self, path: Path) -> None:
        state = Checkpoint(path, samples.FINGERPRINT).load(samples.BEGIN)
        for name in ("iteration", "x", "curve"):
            np.testing.assert_array_equal(state[name], samples.STATE[name])


class Streams:
    """A folder made by `convert`."""

    name = "stream"

    def damaged(self, folder: Path, rng: Random) -> Path:
        index, rows = samples.stream(folder)
        path = folder / "case_stream"
        path.mkdir(exist_ok=True)
        of_rows = rng.random() < 0.15
        (path / "index.json").write_bytes(index if of_rows else damaged_json(index, rng))
        (path / "rows.f32").write_bytes(damaged_bytes(rows, rng) if of_rows else rows)
        return path

    def use(self, path: Path) -> None:
        stream = Stream.open(path)
        stream.scaler()
        stream.sample(50, 0)
        stream.usual()
        stream.window_count(5)


class Settings:
    """A TOML file with settings of a fit."""

    name = "toml"

    def damaged(self, folder: Path, rng: Random) -> Path:
        path = folder / "case.toml"
        damage = damaged_bytes if rng.random() < 0.2 else damaged_settings
        path.write_bytes(damage(samples.TOML, rng))
        return path

    def use(self, path: Path) -> None:
        build(fit_settings(merge((), FitWords(config=str(path)), {})))


class CommandLines:
    """Words on a command line; the exit code is 0 or 2, with one line."""

    name = "words"
    commands: ClassVar = (
        "simulate {folder}/constant.prssm {folder}/whole.csv --out {folder}/run.csv --samples 3",
        "score {folder}/linear.prssm {folder}/whole.csv --seed 1",
        "fit {folder}/whole.csv --method constant --out {folder}/a.prssm --quiet --split 0.7",
        "fit {folder}/whole.csv -u u -y y --method linear --order 1 --out {folder}/b.prssm --quiet",
        "convert {folder}/whole.csv {folder}/whole.npz --out {folder}/made -u u -y y",
        "methods prssm",
        "datasets",
    )

    def damaged(self, folder: Path, rng: Random) -> list[str]:
        samples.models(folder)
        samples.recordings(folder)
        words = pick(rng, self.commands).format(folder=folder).split()
        for _ in range(int(rng.integers(1, 3))):
            at = int(rng.integers(len(words)))
            action = int(rng.integers(5))
            if action == 0 and len(words) > 1:
                del words[at]
            elif action == 1:
                words.insert(at, words[at])
            elif action == 2:
                words[at] = pick(rng, ODD_TEXTS[:-1]).replace("\0", "?")
            elif action == 3:
                words[at] = damaged_bytes(words[at].encode(), rng).decode("latin-1")[:200]
            else:
                words[at] = pick(rng, ("--out", "-1", "1e400", "--nope", str(folder), "--samples"))
        return [word for word in words if "\0" not in word]  # no system passes those on

    def use(self, words: list[str]) -> None:
        told = io.StringIO()
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
            code = main(words)
        lines = told.getvalue().splitlines()
        assert code in (0, 2), f"exit code {code}: {lines[-1:]}"
        if code:
            last = lines[-1]
            assert last.startswith("prssm: "), f"no line of ours: {last[:100]}"
            assert len(last) < 320, f"a line of {len(last)} characters"
            assert not any("Traceback" in line for line in lines), "a traceback"


class ResultLines:
    """The file of results of a benchmark or a search."""

    name = "results"

    def damaged(self, folder: Path, rng: Random) -> Path:
        lines = [
            {"schema": 1, "key": f"k{i}", "outcome": "ok", "metrics": {"test": {"rmse": 0.1}}}
            for i in range(4)
        ]
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        at = int(rng.integers(4))
        texts = content.splitlines()
        texts[at] = damaged_json(texts[at], rng)
        path = folder / "case_results"
        path.mkdir(exist_ok=True)
        whole = b"\n".join(texts) + b"\n"
        (path / "experiments.jsonl").write_bytes(pick(rng, (whole, damaged_bytes(content, rng))))
        return path

    def use(self, path: Path) -> None:
        results = Results(path)
        record = {"schema": 1, "key": "new", "outcome": "ok"}
        results.append(record, {"y": np.zeros(3)})
        assert Results(path).records.keys() >= {"new"}
        assert Results(path).arrays("new")["y"].shape == (3,)


READERS: dict[str, Any] = {
    reader.name: reader
    for reader in (
        *map(Recordings, (".csv", ".parquet", ".npz", ".mat")),
        *([Recordings(".xlsx")] if ".xlsx" in prssm.data.io.files.READERS else []),
        Models(),
        Checkpoints(),
        Streams(),
        Settings(),
        CommandLines(),
        ResultLines(),
    )
}
