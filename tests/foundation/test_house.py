"""The house stays readable: small rooms, short lines, short functions."""

import ast
from pathlib import Path

import pytest

import prssm

SOURCE = Path(prssm.__file__).parent
ROOT = SOURCE.parent.parent
FOLDERS = ("src", "tests", "benchmarks", "studies", "examples", "docs")
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


def test_a_docstring_begins_with_one_line() -> None:
    """A reader, or an editor's tooltip, gets a whole sentence from the first line alone."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = [
        f"{short(path)}:{node.body[0].lineno}"
        for path in python_files()
        if path.is_relative_to(SOURCE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, documented)
        and not _begins_with_a_sentence(ast.get_docstring(node) or "Nothing is said.")
    ]
    assert found == []


def _begins_with_a_sentence(text: str) -> bool:
    first, *others = text.split("\n")
    return first.endswith((".", ":", "?", "!")) and (not others or not others[0].strip())


def test_the_rule_for_docstrings_sees_what_it_must() -> None:
    assert _begins_with_a_sentence("One line.")
    assert _begins_with_a_sentence("One line.\n\nMore.")
    assert not _begins_with_a_sentence("A line that\ngoes on.")
    assert not _begins_with_a_sentence("No end\n\nMore.")
