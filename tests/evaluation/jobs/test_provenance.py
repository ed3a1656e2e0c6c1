"""Which code made a figure: the commit is the package's own, never that of a repository around
it.
"""

import subprocess

import pytest

from prssm.evaluation.jobs import provenance as told


def _git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package in a folder of its own, in place of ours."""
    source = tmp_path / "__init__.py"
    source.write_text("")
    monkeypatch.setattr(told, "PACKAGE_FOLDER", tmp_path)
    return tmp_path


def test_commit_of_a_source_tree_and_whether_it_was_changed(package):
    _git(package, "init", "-q")
    assert told.commit() is None  # the repository around an installed package is not its source
    _git(package, "add", "__init__.py")
    _git(package, "commit", "-qm", "first")
    head = _git(package, "rev-parse", "HEAD")
    assert told.commit() == head
    (package / "__init__.py").write_text("changed = True")
    assert told.commit() == f"{head}+"


def test_no_repository_no_commit(package, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(package.parent))
    assert told.commit() is None
    monkeypatch.setenv("PATH", "")
    assert told.commit() is None  # and no git neither


def test_versions_device_and_machine_are_texts():
    assert all(isinstance(value, str) and value for value in told.versions().values())
    assert told.device()
    assert "cores" in told.machine()
