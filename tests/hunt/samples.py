"""Whole inputs of every kind, small, made by code; the hunt damages copies of them."""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.io.files import READERS, write_record
from prssm.data.record import Record
from prssm.data.stream.convert import convert
from prssm.foundation import storage
from prssm.models.constant import Constant
from prssm.models.linear_ssm import LinearSSM
from prssm.training.checkpoint import Checkpoint

ROWS = 60
OLD_MODELS = Path(__file__).parent.parent / "compatibility" / "files"
STATE: dict[str, Any] = {
    "iteration": np.asarray(3),
    "x": np.linspace(0.0, 1.0, 6).reshape(2, 3),
    "moments": (np.zeros(4), np.ones(4)),
    "curve": np.zeros((3, 2)),
}
BEGIN = STATE | {"iteration": np.asarray(0), "curve": np.zeros((0, 2))}
FINGERPRINT = "the same data and options"


def record(rows: int = ROWS, seed: int = 0) -> Record:
    """A first-order system, answering to a random input."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(rows)
    y = np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.8 * y[t - 1] + 0.3 * u[t - 1] + 0.01 * rng.standard_normal()
    return Record(u, y, 0.1)


@cache
def recordings(folder: Path) -> dict[str, list[bytes]]:
    """Files of every format that can be written here, by suffix."""
    found: dict[str, list[bytes]] = {}
    for suffix in (".csv", ".parquet", ".npz", ".mat"):
        write_record(folder / f"whole{suffix}", record())
        found[suffix] = [(folder / f"whole{suffix}").read_bytes()]
    found[".csv"].append(b"t;u;y\n" + b"".join(b"%d;%d,5;2,%d\n" % (i, i, i) for i in range(20)))
    found[".mat"].append(_plain_mat())
    found[".mat"].append(_hdf5_mat(folder / "whole73.mat"))
    if ".xlsx" in READERS:
        found[".xlsx"] = [_xlsx(folder / "whole.xlsx")]
    return found


def _plain_mat() -> bytes:
    """Not compressed, so that damage meets the tags."""
    from scipy.io import savemat

    stream = io.BytesIO()
    one = record()
    cells = np.array([one.u, one.y], dtype=object)
    savemat(stream, {"u": one.u, "y": one.y, "s": {"a": 1.0, "b": "text"}, "c": cells})
    return stream.getvalue()


def _hdf5_mat(path: Path) -> bytes:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file["u"] = record().u.T
        file["y"] = record().y.T
    content = bytearray(path.read_bytes())
    content[:19] = b"MATLAB 7.3 MAT-file"
    return bytes(content)


def _xlsx(path: Path) -> bytes:
    import polars

    one = record()
    polars.DataFrame({"u": one.u[:, 0], "y": one.y[:, 0]}).write_excel(path)
    return path.read_bytes()


@cache
def models(folder: Path) -> dict[str, bytes]:
    """Model files of every method: two fitted here, the others from the tests of old files."""
    found = {}
    for model in (Constant(), LinearSSM(order=2)):
        path = model.fit(record()).save(folder / f"{model.name}.prssm")
        found[model.name] = path.read_bytes()
    for text in sorted(OLD_MODELS.glob("*.json")):
        stored = json.loads(text.read_text(encoding="utf-8"))
        if "header" not in stored:
            continue
        arrays = {
            name: np.array(array["values"], dtype=_KINDS[array["kind"]]).reshape(array["shape"])
            for name, array in stored["arrays"].items()
        }
        path = storage.write(folder / "old.prssm", "model", stored["header"], arrays)
        found[f"old {text.stem}"] = path.read_bytes()
    return found


_KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "BOOL": "|b1"}


@cache
def checkpoint(folder: Path) -> bytes:
    path = folder / "whole.checkpoint"
    Checkpoint(path, FINGERPRINT).save(STATE)
    return path.read_bytes()


@cache
def stream(folder: Path) -> tuple[bytes, bytes]:
    """The index and the rows."""
    write_record(folder / "long.csv", record(200))
    made = convert([folder / "long.csv"], folder / "stream")
    return (made.folder / "index.json").read_bytes(), (made.folder / "rows.f32").read_bytes()


def make_all(folder: Path) -> None:
    for make in (recordings, models, checkpoint, stream):
        make(folder)


TOML = b"""data = "absent.csv"
inputs = ["valve"]
outputs = ["pressure", "flow"]
split = 0.7
dt = 0.5
method = "prssm"
preset = "default"
out = "model.prssm"
budget = "60s"
quiet = true

[options]
latent_dim = 4
iterations = 100
learning_rate = 0.01
complexity = "free"
restarts = 2
"""
