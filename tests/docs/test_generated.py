"""The parts of the reference that are made from the program say all that there is."""

import dataclasses
import inspect

import generated
import pytest

import prssm
from prssm.cli.main import COMMANDS
from prssm.foundation import errors
from prssm.models.registry import METHODS, method


def test_every_command_is_there_with_its_options():
    text = generated.commands()
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == [f"## prssm {name}" for name in COMMANDS]
    assert "`--budget" in text
    assert " -m " not in text.replace("--", "")


def test_every_option_is_there_with_its_value_in_each_preset():
    text = generated.options()
    for name in METHODS:
        part = text.split(f"## `{name}`\n")[1].split("\n## ")[0]
        for field in dataclasses.fields(method(name).Config):
            assert f"| `{field.name}` |" in part
    assert "| `latent_dim` | `None` | `4` |" in text


def test_every_error_is_there_and_messages_have_blanks():
    kinds = [
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.PrssmError | errors.PrssmWarning)
    ]
    text = generated.error_classes()
    assert all(f"| `{name}` |" in text for name in kinds)
    told = generated.messages()
    assert "`--split: expected a fraction between 0 and 1, got {split}`" in told
    assert "### OptionError" in told


def test_metrics_and_data_sets_are_those_of_the_package():
    train, test = prssm.datasets.load("tanks_sim")
    scores = prssm.Constant().fit(train).evaluate(test)
    assert all(f"| `{name}` |" in generated.metrics() for name in scores)
    assert all(f"| `{name}` |" in generated.data_sets() for name in prssm.datasets.names())


@pytest.mark.parametrize(("cell", "written"), [("a|b", r"a\|b"), ("a\n  b", "a b")])
def test_a_cell_stays_in_its_row(cell, written):
    assert generated.table(["head"], [[cell]]).splitlines()[-1] == f"| {written} |"


def test_files_that_have_not_changed_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(generated, "PARTS", {"one": lambda: "text\n"})
    generated.write(tmp_path)
    path = tmp_path / "one.md"
    before = path.stat().st_mtime_ns
    generated.write(tmp_path)
    assert path.stat().st_mtime_ns == before
    assert path.read_text() == "text\n"
