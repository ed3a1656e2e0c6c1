"""Every violation that was ever found, made again by code; each must be refused or read right.

A new one is a function here, with the damage as small as it can be.
"""

import gzip
import io
import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import prssm
from hunt import samples
from prssm.data.io.files import read
from prssm.data.stream.convert import convert
from prssm.data.stream.stream import Stream
from prssm.foundation import limits, storage
from prssm.foundation.errors import PrssmError

CORPUS: dict[str, Callable[[Path], None]] = {}


def case(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Enter a case under the name of its function."""
    CORPUS[make.__name__] = make
    return make


def refused(what: Callable[[], object], word: str = "") -> None:
    """It ends in an error of ours, which says so."""
    try:
        what()
    except PrssmError as error:
        said = str(error)
    else:
        raise AssertionError("it was taken")
    assert word in said, f"expected a word of {word!r}, got {said}"


@case
def a_wrong_type_in_a_tag_of_a_mat_file(folder: Path) -> None:
    """Crashed the interpreter in scipy."""
    content = bytearray(samples._plain_mat())
    place = content.index(b"u\0\0\0") + 4  # the tag of the values behind the name `u`
    for kind in (0, 8, 10, 11, 19, 100, 2**15):
        content[place : place + 4] = struct.pack("<I", kind)
        (folder / "tag.mat").write_bytes(content)
        refused(lambda: read(folder / "tag.mat"), "MAT")


@case
def an_array_of_a_mat_file_that_lacks_a_part(folder: Path) -> None:
    """Crashed the interpreter in scipy: values within a name, a length of one byte."""
    whole = samples._plain_mat()
    for tag, other in (
        (b"\1\0\0\0\0\0\0\0\t\0\0\0", b"\1\0\0\0\x10\0\0\0\t\0\0\0"),
        (b"\5\0\0\0\x08\0\0\0", b"\5\0\0\0\1\0\0\0"),
    ):
        assert tag in whole
        (folder / "part.mat").write_bytes(whole.replace(tag, other, 1))
        refused(lambda: read(folder / "part.mat"), "MAT")


@case
def an_npz_file_that_unpacks_to_gigabytes(folder: Path) -> None:
    """A member that nobody asks for took 5.3 GB."""
    path = folder / "bomb.npz"
    zeros = bytes(10_000_000)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (7_500_000,)}
    )
    small = io.BytesIO()
    np.save(small, np.arange(50.0) ** 2)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", small.getvalue())
        archive.writestr("y.npy", small.getvalue())
        with archive.open("big.npy", "w", force_zip64=True) as member:
            member.write(head.getvalue())
            for _ in range(6):
                member.write(zeros)
    assert len(read(path, inputs=["u"], outputs=["y"], dt=1.0)) == 50
    os.environ[limits.VARIABLE] = "0.05"  # instead of the usual GB, which takes long to make
    try:
        refused(lambda: read(path, inputs=["big"], outputs=["y"], dt=1.0), "unpacks to")
    finally:
        del os.environ[limits.VARIABLE]


@case
def a_packed_text_that_unpacks_to_gigabytes(folder: Path) -> None:
    """Filled the disk for temporary files."""
    packed = gzip.compress(b"u,y\n" + b"1.5,2.5\n" * 8_000_000, 1)
    (folder / "bomb.csv.gz").write_bytes(packed)
    os.environ[limits.VARIABLE] = "0.01"
    try:
        refused(lambda: read(folder / "bomb.csv.gz", dt=1.0), "unpacks to")
    finally:
        del os.environ[limits.VARIABLE]


@case
def a_model_file_whose_description_unpacks_to_gigabytes(folder: Path) -> None:
    path = folder / "bomb.prssm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("model.json", "w", force_zip64=True) as member:
            for _ in range(10):
                member.write(b"[" + b"[]," * 1_000_000 + b"1]")
        archive.writestr("arrays.safetensors", b"")
    refused(lambda: prssm.load(path), "description")


@case
def nan_parameters_of_a_model(folder: Path) -> None:
    """Simulated to empty columns with exit code 0."""
    path = folder / "nan.prssm"
    path.write_bytes(samples.models(folder)["linear"])
    header, arrays = storage.read(path, "model")
    arrays["learnt.system.A"] = arrays["learnt.system.A"] * np.nan
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "not finite")


@case
def errors_of_a_model_that_are_correlated_by_more_than_one(folder: Path) -> None:
    """Ended in a LinAlgError when it was run."""
    path = folder / "correlated.prssm"
    path.write_bytes(samples.models(folder)["linear"])
    header, arrays = storage.read(path, "model")
    arrays["learnt.start.correlation"] = np.array([1e300])
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "correlated")


@case
def a_huge_number_in_a_model(folder: Path) -> None:
    """A weight of 1e300 ran to no number at all."""
    path = folder / "far.prssm"
    path.write_bytes(samples.models(folder)["old prssm-paper"])
    header, arrays = storage.read(path, "model")
    arrays["learnt.models.recognition.log_std_weight"].flat[3] = 1e300
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "too large")


@case
def errors_of_a_model_that_are_zero(folder: Path) -> None:
    """Ended in a LinAlgError when it was run."""
    path = folder / "exact.prssm"
    path.write_bytes(samples.models(folder)["linear"])
    header, arrays = storage.read(path, "model")
    arrays["learnt.start.error_std"] = np.zeros(1)
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "not above 0")


@case
def a_logarithm_whose_exponential_is_no_number(folder: Path) -> None:
    """Ran to no number from its first row on."""
    path = folder / "logarithm.prssm"
    path.write_bytes(samples.models(folder)["old prssm-default"])
    header, arrays = storage.read(path, "model")
    arrays["learnt.models.transition.gp.kernel.log_std"].flat[0] = 4e9
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "too large")


@case
def truth_values_where_a_model_has_numbers(folder: Path) -> None:
    """Were taken, and could not be subtracted."""
    path = folder / "truth.prssm"
    path.write_bytes(samples.models(folder)["constant"])
    header, arrays = storage.read(path, "model")
    arrays["seen.output_range"] = np.array([[True], [True]])
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "truth values")


@case
def no_number_in_the_description_of_a_model(folder: Path) -> None:
    """Was read, and could not be saved again."""
    path = folder / "word.prssm"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", b'{"learnt": {"level": NaN}}')
        archive.writestr("arrays.safetensors", b"")
    refused(lambda: prssm.load(path), "NaN")


@case
def noises_of_a_filter_that_are_none(folder: Path) -> None:
    """Were believed until the filter ran."""
    path = folder / "noises.prssm"
    path.write_bytes(samples.models(folder)["linear"])
    header, arrays = storage.read(path, "model")
    for noises in (3, {"sensor": "much"}, {"sensor": -1.0}, {"memory": 1.5}, {"odd": 1.0}):
        header["learnt"]["noises"] = noises
        storage.write(path, "model", header, arrays)
        refused(lambda: prssm.load(path), "noises")


@case
def a_spreadsheet_whose_reader_speaks(folder: Path) -> None:
    """A logger of its reader wrote to the terminal."""
    import logging

    from prssm.data.io import tables

    with tables._unsaid("calamine"):
        logging.getLogger("calamine.xlsx").warning("a word on standard error")


@case
def a_linear_model_of_more_states_than_data(folder: Path) -> None:
    """Took minutes."""
    refused(lambda: prssm.LinearSSM(order=111).fit(samples.record()), "at most 30 for 60 values")


@case
def strides_names_and_steps_of_a_model(folder: Path) -> None:
    for name, value in (
        ("stride", 0),
        ("stride", 1.5),
        ("stride", 10**12),
        ("dt", -1),
        ("dt", "fast"),
        ("inputs", "u"),
        ("outputs", []),
        ("outputs", ["y", "y"]),
        ("method", ["prssm"]),
        ("learnt", []),
        ("domain", {"inputs": [[1.0]]}),
        ("domain", {"units": 3}),
    ):
        path = folder / "header.prssm"
        path.write_bytes(samples.models(folder)["constant"])
        header, arrays = storage.read(path, "model")
        storage.write(path, "model", header | {name: value}, arrays)
        refused(lambda path=path: prssm.load(path), name)


@case
def options_that_ask_for_a_huge_model(folder: Path) -> None:
    path = folder / "huge.prssm"
    path.write_bytes(samples.models(folder)["old prssm-default"])
    header, arrays = storage.read(path, "model")
    header["learnt"]["resolved"]["inducing"] = 10**7
    storage.write(path, "model", header, arrays)
    refused(lambda: prssm.load(path), "ask for")


@case
def a_checkpoint_of_iteration_a_billion(folder: Path) -> None:
    """Was taken as finished."""
    from hunt.readers import Checkpoints

    path = folder / "far.checkpoint"
    path.write_bytes(samples.checkpoint(folder))
    header, arrays = storage.read(path, "checkpoint")
    arrays["['iteration']"] = np.asarray(10**9)
    storage.write(path, "checkpoint", header, arrays)
    refused(lambda: Checkpoints().use(path), "not those that were saved")


@case
def zip_files_of_foreign_kinds(folder: Path) -> None:
    """Encrypted, with an unknown codec, nested too deeply."""
    whole = samples.models(folder)["constant"]
    for flag, offset in ((1, 6), (99, 8)):  # of the first local header
        damaged = bytearray(whole)
        damaged[offset] |= flag
        central = damaged.index(b"PK\x01\x02")
        damaged[central + offset + 2] |= flag
        (folder / "odd.prssm").write_bytes(damaged)
        refused(lambda: prssm.load(folder / "odd.prssm"), "not a whole prssm model file")
    with zipfile.ZipFile(folder / "deep.prssm", "w") as archive:
        archive.writestr("model.json", b"[" * 200_000)
        archive.writestr("arrays.safetensors", b"")
    refused(lambda: prssm.load(folder / "deep.prssm"), "not a whole prssm model file")


@case
def an_index_of_a_stream_with_other_types(folder: Path) -> None:
    index, rows = samples.stream(folder)
    (folder / "odd_stream").mkdir(exist_ok=True)
    (folder / "odd_stream" / "rows.f32").write_bytes(rows)
    for name, value in (
        ("lengths", ["many"]),
        ("lengths", [200.5]),
        ("lengths", None),
        ("inputs", 3),
        ("statistics", {"mean": [0.0], "std": [0.0]}),
        ("dt", "0.1"),
        ("names", "long.csv"),
    ):
        changed = json.dumps(json.loads(index) | {name: value})
        (folder / "odd_stream" / "index.json").write_text(changed)
        refused(lambda: Stream.open(folder / "odd_stream"), name)


@case
def values_that_were_changed_silently(folder: Path) -> None:
    """Masks, imaginary parts, underscores, dt=True, 1e300."""
    y = np.arange(10.0)
    masked = np.ma.array(y, mask=y == 3.0)
    assert np.isnan(prssm.Record(None, masked).y[3, 0])
    refused(lambda: prssm.Record(None, y + 1j), "complex")
    refused(lambda: prssm.Record(None, y, True), "dt")
    refused(lambda: prssm.Constant().fit(prssm.Record(y, y * 1e299)), "other units")
    (folder / "under.csv").write_text("u,y\n" + "".join(f"{i},1_{i % 3}\n" for i in range(9)))
    refused(lambda: read(folder / "under.csv", dt=1.0), "1_0")


@case
def sixty_thousand_columns(folder: Path) -> None:
    """Took minutes, and the message all names."""
    names = [f"column{i}" for i in range(60_000)]
    lines = [names, ["1.5"] * len(names), ["2.5"] * len(names)]
    (folder / "wide.csv").write_text("\n".join(",".join(line) for line in lines))
    refused(lambda: read(folder / "wide.csv"), "say which columns")


@case
def a_conversion_that_fails_leaves_nothing(folder: Path) -> None:
    (folder / "flat.csv").write_text("u,y\n" + "".join(f"{i},1.0\n" for i in range(20)))
    refused(lambda: convert([folder / "flat.csv"], folder / "flat_stream", dt=1.0), "constant")
    assert not list((folder / "flat_stream").iterdir())


@case
def numbers_too_large_for_a_number(folder: Path) -> None:
    """A whole number of 31 digits is no number to numpy."""
    refused(lambda: prssm.Record(None, np.arange(5.0), 10**200), "dt")
    index, rows = samples.stream(folder)
    (folder / "far_stream").mkdir(exist_ok=True)
    (folder / "far_stream" / "rows.f32").write_bytes(rows)
    changed = json.loads(index)
    changed["statistics"]["mean"] = [10**30, 0]
    (folder / "far_stream" / "index.json").write_text(json.dumps(changed))
    assert Stream.open(folder / "far_stream").scaler().u_mean[0] == 1e30
