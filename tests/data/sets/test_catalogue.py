import hashlib
import re
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

import prssm
from prssm.data.record import Record
from prssm.data.sets import catalogue, sarcos
from prssm.data.sets.download import UNVERIFIED, DataFile, data_folder, fetch
from prssm.foundation.errors import DataError

CONTENT = b"u,y\n1,2\n3,4\n"
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise urllib.request.URLError("no network in this test")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


def test_the_catalogue_is_the_public_name():
    assert prssm.datasets is catalogue
    assert {"actuator", "sarcos", "emps", "kink", "drives_sim", "tanks_sim", "arm_sim"} <= set(
        catalogue.names()
    )


def test_every_set_is_described():
    for name in catalogue.names():
        about = catalogue.describe(name)
        assert about.name == name
        assert about.title
        assert about.source
        assert about.split
        for file in about.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256) or (name, file.path) == (
                "sarcos",
                "sarcos_inv.mat",
            )
            assert file.url == "" or file.url.startswith("http")
    lags = {
        name: catalogue.describe(name).lags
        for name in ("actuator", "ballbeam", "drives", "furnace", "dryer")
    }
    assert lags == {"actuator": 10, "ballbeam": 10, "drives": 10, "furnace": 3, "dryer": 2}


def test_an_unknown_name_gets_a_suggestion():
    for function in (
        catalogue.load,
        catalogue.describe,
        catalogue.available,
        catalogue.measured_rows,
    ):
        with pytest.raises(DataError, match=r"unknown data set 'drivs'\. Did you mean 'drives'"):
            function("drivs")


def test_where_the_data_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PRSSM_DATA", "/from/environment")
    assert data_folder(tmp_path) == tmp_path
    assert data_folder() == Path("/from/environment")
    monkeypatch.delenv("PRSSM_DATA")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "prssm"


@pytest.mark.usefixtures("no_network")
def test_without_network_the_message_says_which_file_to_put_where(tmp_path):
    with pytest.raises(DataError) as caught:
        catalogue.load("drives", tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "drive.mat") in message
    assert catalogue.describe("drives").files[0].url in message
    assert "no network in this test" in message
    assert "\n" not in message
    assert not catalogue.available("drives", tmp_path)
    with pytest.raises(
        DataError, match=r"no public address of it is known; put ias_real_barrett_data\.mat there"
    ):
        catalogue.load("barrett", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_changed_local_file_is_refused(tmp_path):
    (tmp_path / "drive.mat").write_bytes(b"something else")
    with pytest.raises(DataError, match=r"drive\.mat: not the file that the catalogue knows"):
        catalogue.load("drives", tmp_path)


def test_a_download_is_verified_before_it_gets_its_name(tmp_path):
    (tmp_path / "source.csv").write_bytes(CONTENT)
    address = (tmp_path / "source.csv").as_uri()
    target = fetch(DataFile("sub/log.csv", SHA, address), tmp_path / "data")
    assert target == tmp_path / "data" / "sub" / "log.csv"
    assert target.read_bytes() == CONTENT
    with pytest.raises(DataError, match="not the file that the catalogue knows"):
        fetch(DataFile("other.csv", "0" * 64, address), tmp_path / "data")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["sub"]


def test_a_downloaded_archive_gives_its_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("folder/LOG.csv", CONTENT)
    address = (tmp_path / "all.zip").as_uri()
    assert fetch(DataFile("log.csv", SHA, address), tmp_path / "data").read_bytes() == CONTENT
    with pytest.raises(DataError, match=r"does not hold absent\.csv"):
        fetch(DataFile("absent.csv", SHA, address), tmp_path / "data")


def test_simulated_sets_need_no_folder(tmp_path):
    for name in ("drives_sim", "kink"):
        train, test = catalogue.load(name, tmp_path)
        assert catalogue.available(name, tmp_path)
        assert isinstance(train, Record)
        assert len(train) == 2 * len(test) == 500
        assert (train.name, test.name) == (f"{name} train", f"{name} test")


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("actuator", 1.630),
        ("ballbeam", 0.073),
        ("drives", 0.735),
        ("furnace", 3.398),
        ("dryer", 0.824),
    ],
)
def test_the_training_mean_has_the_known_error(recordings, name, expected):
    train, test = catalogue.load(name, recordings)
    rmse = np.sqrt(np.mean((test.y - train.y.mean(axis=0)) ** 2))
    assert rmse == pytest.approx(expected, abs=5e-4)


SHAPES = {
    "actuator": [(512, 1, 1), (512, 1, 1)],
    "ballbeam": [(500, 1, 1), (500, 1, 1)],
    "drives": [(250, 1, 1), (250, 1, 1)],
    "furnace": [(148, 1, 1), (148, 1, 1)],
    "dryer": [(500, 1, 1), (500, 1, 1)],
    "barrett": [(12000, 7, 7), (3000, 7, 7)],
    "cascaded_tanks": [(1024, 1, 1), (1024, 1, 1)],
    "emps": [(24841, 1, 1), (24841, 1, 1)],
    "ced": [2 * [(400, 1, 1)], 2 * [(100, 1, 1)]],
    "sarcos": [60 * [(337, 7, 7)], 6 * [(337, 7, 7)]],
}


def _shape(part):
    return (
        [_shape(record) for record in part]
        if isinstance(part, list)
        else (len(part), part.input_dim, part.output_dim)
    )


@pytest.mark.recordings
@pytest.mark.parametrize("name", SHAPES)
def test_sizes_of_the_public_sets(recordings, name):
    if not catalogue.available(name, recordings):
        pytest.skip(f"the data folder does not hold {name}")
    parts = catalogue.load(name, recordings)
    assert [_shape(part) for part in parts] == SHAPES[name]
    for part in parts:
        for record in part if isinstance(part, list) else [part]:
            assert record.dt == catalogue.describe(name).dt


@pytest.mark.recordings
def test_sarcos_experiments_begin_where_the_arm_jumps(recordings):
    """The 65 largest steps of the joint positions in the file are exactly those between experiments
    of 674 rows.
    """
    if not catalogue.available("sarcos", recordings):
        pytest.skip("the data folder does not hold sarcos")
    table, measured, label = sarcos.read_table(catalogue.describe("sarcos").files, recordings)
    steps = np.abs(np.diff(table[:, :7], axis=0)).max(axis=1)
    jumps = np.sort(np.argsort(steps)[-65:]) + 1
    np.testing.assert_array_equal(jumps, 674 * np.arange(1, 66))

    train, test = catalogue.load("sarcos", recordings)
    rows_train, rows_test = catalogue.measured_rows("sarcos", recordings)
    np.testing.assert_array_equal(test[0].y, table[60 * 674 : 61 * 674 : 2, :7])
    np.testing.assert_array_equal(train[1].u, table[674 : 2 * 674 : 2, 21:])
    np.testing.assert_array_equal(rows_train[1], measured[674 : 2 * 674 : 2])
    assert (len(rows_train), len(rows_test)) == (60, 6)
    assert all(("reconstructed" in record.name) == (label != "") for record in train + test)


def test_a_sarcos_file_of_another_shape_is_refused(tmp_path):
    savemat(tmp_path / "sarcos_inv.mat", {"sarcos_inv": np.zeros((10, 28))})
    with pytest.raises(
        DataError, match="expected a variable 'sarcos_inv' of 44484 x 28 numbers, got 10 x 28"
    ):
        catalogue.load("sarcos", tmp_path)


@pytest.mark.recordings
def test_barrett_rows_are_in_time_order_without_gaps(recordings):
    """Positions advance by the recorded velocities times 0.02 s over every step but the last two
    (the file's edge).
    """
    if not catalogue.available("barrett", recordings):
        pytest.skip("the data folder does not hold barrett")
    parts = catalogue.load("barrett", recordings)
    q = np.concatenate([part.y for part in parts])
    found = loadmat(recordings / "robots" / "ias_real_barrett_data.mat")
    velocity = np.empty_like(q)
    velocity[::5] = found["X_test"][:, 7:14]
    velocity[np.arange(15000) % 5 != 0] = found["X_train"][:, 7:14]
    middle = (velocity[1:] + velocity[:-1]) / 2
    step = (np.diff(q, axis=0) * middle).sum(axis=1) / (middle**2).sum(axis=1)
    assert np.all(np.abs(step[:-2] - 0.02) < 0.01)
    assert np.median(step) == pytest.approx(0.02, rel=1e-3)


@pytest.mark.parametrize(
    ("url", "checksum"),
    [("http://example.org/a.csv", "ab" * 32), ("https://example.org/a.csv", "")],
)
def test_a_download_that_nothing_can_verify_is_refused(tmp_path, monkeypatch, url, checksum):
    monkeypatch.delenv(UNVERIFIED, raising=False)
    with pytest.raises(DataError, match=r"no https or no checksum.*PRSSM_UNVERIFIED=1"):
        fetch(DataFile("a.csv", checksum, url), tmp_path)
