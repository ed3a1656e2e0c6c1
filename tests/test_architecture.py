"""docs/explanation/architecture.md describes the house as it is: rooms, order, files."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "prssm"
TEXT = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its header."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_rooms_stand_in_the_order_that_the_import_rules_keep() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [name.removeprefix("prssm.") for name in contracts["contracts"][0]["layers"]]
    told = [re.findall(r"`(\w+)/`", first)[0] for first, _ in rows("The rooms")]
    assert told == layers[::-1]
    assert set(told) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_named_files_exist_and_a_change_names_at_most_three() -> None:
    changes = rows("Where does each change go?")
    assert len(changes) >= 10
    for what, places in [*changes, *rows("One home each")]:
        named = re.findall(r"`([^`]*?(?:/|\.py))`", places)
        assert 1 <= len(named) <= 3, what
        for name in named:
            if "<" not in name:
                assert (ROOT / name).exists() or (PACKAGE / name).exists(), f"{what}: {name}"
