"""Model files and streams as readable text (JSON) and back, by code of its own.

The package's reader and writer are not used: what is tested with these is whether the package still
reads the format as it was, so the format is written down here a second time.
"""

import json
import struct
import zipfile
from pathlib import Path

import numpy as np

KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "BOOL": "|b1"}


def model_text(path):
    """A model file (a zip of `model.json` and `arrays.safetensors`) as header and arrays."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
        data = archive.read("arrays.safetensors")
    (length,) = struct.unpack("<Q", data[:8])
    described = json.loads(data[8 : 8 + length])
    described.pop("__metadata__", None)
    body = data[8 + length :]
    arrays = {}
    for name in sorted(described):
        begin, end = described[name]["data_offsets"]
        kind = described[name]["dtype"]
        shape = described[name]["shape"]
        values = np.frombuffer(body[begin:end], KINDS[kind]).reshape(shape)
        arrays[name] = {"kind": kind, "shape": shape, "values": values.ravel().tolist()}
    return {"header": header, "arrays": arrays}


def write_model(text, path):
    """The model file that `model_text` described."""
    described = {}
    body = b""
    for name, array in text["arrays"].items():
        values = np.asarray(array["values"], KINDS[array["kind"]])
        described[name] = {
            "dtype": array["kind"],
            "shape": array["shape"],
            "data_offsets": [len(body), len(body) + values.nbytes],
        }
        body += values.tobytes()
    head = json.dumps(described).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(text["header"]))
        archive.writestr("arrays.safetensors", struct.pack("<Q", len(head)) + head + body)
    return path


def stream_text(folder):
    """A folder made by `prssm convert` as its index and its rows, end to end."""
    index = json.loads((Path(folder) / "index.json").read_text(encoding="utf-8"))
    rows = np.frombuffer((Path(folder) / "rows.f32").read_bytes(), "<f4")
    return {"index": index, "rows": rows.tolist()}


def write_stream(text, folder):
    """The folder that `stream_text` described."""
    folder = Path(folder)
    folder.mkdir()
    (folder / "index.json").write_text(json.dumps(text["index"]), encoding="utf-8")
    (folder / "rows.f32").write_bytes(np.asarray(text["rows"], "<f4").tobytes())
    return folder
