"""Whole files or none: on a full disk, beside other programs, through links, with the user's
rights.
"""

import errno
import os
from pathlib import Path

import pytest

from prssm.data.io.files import write_columns
from prssm.foundation import atomic, locks
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import WriteError


def write(path: Path, text: str = "new") -> None:
    with replacing(path) as stream:
        stream.write(text.encode())


@pytest.fixture
def full_disk(monkeypatch):
    """Every file reaches the disk too late."""

    def fails(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", fails)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_full_disk_is_named_and_the_old_file_stays(tmp_path, full_disk, name):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(WriteError, match=rf"{name}: cannot write here: the disk is full; .* as it"):
        write_columns(path, {"y": [1.0, 2.0]})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"), replacing(tmp_path / "a.txt"):
        (tmp_path / "absent").read_text()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("mask", "rights"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_is_respected(tmp_path, mask, rights):
    earlier = os.umask(mask)
    try:
        write(tmp_path / "a.txt")
    finally:
        os.umask(earlier)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == rights


def test_rights_of_an_old_file_stay(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o600)
    write(path)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "a.txt"
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_not_replaced(tmp_path):
    write(Path(os.devnull))
    assert not Path(os.devnull).is_file()


def test_parts_of_killed_programs_are_removed_and_those_of_living_ones_stay(tmp_path):
    path = tmp_path / "a.txt"
    orphan = tmp_path / ".a.txt.12345678.part"
    orphan.write_text("half")
    other = tmp_path / ".b.txt.12345678.part"
    other.write_text("half")
    with replacing(path) as stream:
        stream.write(b"first")
        assert not orphan.exists()
        write(path, "second")  # another program, meanwhile
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert set(tmp_path.iterdir()) == {path, other}


def test_a_process_that_ends_at_once_leaves_no_part(tmp_path):
    writing = replacing(tmp_path / "a.txt")
    writing.__enter__()
    atomic.remove_unfinished()
    assert not list(tmp_path.iterdir())
    with pytest.raises(WriteError):  # the part has gone before it could take its name
        writing.__exit__(None, None, None)


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path):
    lock = tmp_path / ".lock"
    with locks.alone(lock) as first:
        assert first
        with locks.alone(lock) as second:
            assert not second
        with locks.alone(tmp_path / ".other") as other:
            assert other
    assert not list(tmp_path.iterdir())
    lock.write_text("")  # of a killed program
    with locks.alone(lock) as again:
        assert again
