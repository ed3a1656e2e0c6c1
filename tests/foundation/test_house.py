"""The house stays readable: small rooms, short lines, short functions."""

import ast
from pathlib import Path

import pytest

import prssm

SOURCE = Path(prssm.__file__).parent
ROOT = SOURCE.parent.parent
FOLDERS = ("src", "tests", "benchmarks", "studies")
FILES_OF_A_ROOM = 14
LENGTH_OF_A_LINE = 100
LINES_OF_A_FUNCTION = 50


def python_files() -> list[Path]:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("needs a checkout: the package is installed without its sources beside it")
    return sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_room_has_too_many_files() -> None:
    rooms = [path for path in (SOURCE, *SOURCE.rglob("*")) if path.is_dir()]
    counts = {short(room): len(list(room.glob("*.py"))) for room in rooms}
    assert {room: count for room, count in counts.items() if count > FILES_OF_A_ROOM} == {}


def test_no_line_is_too_long() -> None:
    found = [
        f"{short(path)}:{number}"
        for path in python_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LENGTH_OF_A_LINE
    ]
    assert found == []


def test_no_function_is_too_long() -> None:
    found = [
        f"{short(path)}:{node.lineno} {node.name}"
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > LINES_OF_A_FUNCTION
    ]
    assert found == []
