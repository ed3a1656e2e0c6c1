"""The file format: exact, atomic, and clear about what is wrong."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prssm.foundation import storage
from prssm.foundation.errors import ModelFileError

ARRAYS = st.dictionaries(
    st.text("abc.", min_size=1, max_size=5),
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=3)),
    max_size=4,
)


@given(arrays=ARRAYS, text=st.text(max_size=20))
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, arrays, text):
    path = tmp_path_factory.mktemp("storage") / "a.prssm"
    storage.write(path, "model", {"text": text}, arrays)
    header, read = storage.read(path, "model")
    assert header["text"] == text
    assert read.keys() == arrays.keys()
    assert all(
        read[name].tobytes() == array.tobytes() and read[name].shape == array.shape
        for name, array in arrays.items()
    )


@pytest.fixture
def model_file(tmp_path):
    return storage.write(tmp_path / "a.prssm", "model", {}, {"x": np.arange(1000.0)})


def test_any_truncation_is_noticed(model_file):
    whole = model_file.read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        model_file.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match="truncated or of another program"):
            storage.read(model_file, "model")


def test_damage_inside_is_noticed(model_file):
    data = bytearray(model_file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    model_file.write_bytes(bytes(data))
    with pytest.raises(ModelFileError, match=r"a\.prssm"):
        storage.read(model_file, "model")


def test_foreign_files_are_named(tmp_path, model_file):
    with pytest.raises(ModelFileError, match="expected a checkpoint file, got a model"):
        storage.read(model_file, "checkpoint")
    with pytest.raises(ModelFileError, match="no such file"):
        storage.read(tmp_path / "absent.prssm", "model")
    with pytest.raises(ModelFileError, match="folder"):
        storage.read(tmp_path, "model")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(ModelFileError, match=r"other\.zip"):
        storage.read(other, "model")


def test_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "FORMAT_VERSION", 99)
    path = storage.write(tmp_path / "new.prssm", "model", {}, {})
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="version 99, this program reads 1"):
        storage.read(path, "model")


def test_a_failed_write_leaves_the_old_file_and_no_debris(model_file):
    before = model_file.read_bytes()
    with pytest.raises(TypeError):
        storage.write(model_file, "model", {"unwritable": object()}, {})
    assert model_file.read_bytes() == before
    assert list(model_file.parent.iterdir()) == [model_file]


def test_the_header_is_readable_json(model_file):
    with zipfile.ZipFile(model_file) as archive:
        assert json.loads(archive.read("model.json"))["format"] == "prssm"
