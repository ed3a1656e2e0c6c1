"""The checks of a release see what they must; the release itself is `make wheel-check`."""

import tarfile
import zipfile
from pathlib import Path

import pytest

from release import wheel

LIBRARY = f"{wheel.ENGINE}rollout-0123456789ab.so"
SOURCE = f"{wheel.ENGINE}rollout.cc"


def test_the_build_takes_the_oldest_jaxlib_that_is_supported() -> None:
    """A library built with old headers loads under a newer jaxlib."""
    settings = (wheel.ROOT / "pyproject.toml").read_text()
    assert wheel.oldest_jaxlib(settings).startswith("jaxlib==")
    assert wheel.oldest_jaxlib('[build-system]\nrequires = ["jaxlib>=1.2"]') == "jaxlib==1.2"


@pytest.mark.parametrize(
    ("tag", "files", "fault"),
    [
        ("py3-none-linux_x86_64", (LIBRARY, SOURCE), None),
        ("py3-none-any", (LIBRARY, SOURCE), "expected the tag"),
        ("cp311-cp311-linux_x86_64", (LIBRARY, SOURCE), "expected the tag"),
        ("py3-none-linux_x86_64", (SOURCE,), "expected one native library"),
        ("py3-none-linux_x86_64", (LIBRARY,), "sources of the native engine"),
    ],
)
def test_a_wheel_that_is_not_right_is_named(
    tag: str, files: tuple[str, ...], fault: str | None, tmp_path: Path
) -> None:
    path = tmp_path / f"prssm-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in files:
            archive.writestr(name, "")
    found = wheel.wheel_faults(path)
    assert len(found) == (fault is not None)
    assert all(fault in line for line in found)


def test_an_sdist_with_compiled_files_or_without_tests_is_named(tmp_path: Path) -> None:
    path = tmp_path / "prssm-1.0.tar.gz"
    kept = ("pyproject.toml", "hatch_build.py", "LICENSE", "CHANGELOG.md", "Makefile")
    folders = ("benchmarks/a.py", "studies/a.py", "examples/a.py", "docs/accuracy.md", "src/a.so")
    empty = tmp_path / "empty"
    empty.touch()
    with tarfile.open(path, "w:gz") as archive:
        for name in (*kept, *folders):
            archive.add(empty, f"prssm-1.0/{name}")
    found = wheel.sdist_faults(path)
    assert found == [
        "prssm-1.0.tar.gz: nothing of tests/ is there",
        "prssm-1.0.tar.gz: src/a.so is no source",
    ]
