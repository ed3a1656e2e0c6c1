"""The command that decides options of the reference methods: blind to test parts, and by its one
rule.
"""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.models.registry import method

PROGRAM = Path(__file__).parents[2] / "studies" / "reference_choices.py"


@pytest.fixture
def choices(monkeypatch):
    """The program, with a training part of 90 rows and a test part that must not be touched."""
    spec = importlib.util.spec_from_file_location("reference_choices", PROGRAM)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    train = Record(
        np.arange(90.0), np.concatenate([np.zeros(30), np.full(30, 2.0), np.full(30, 4.0)])
    )
    monkeypatch.setattr(program.catalogue, "load", lambda name: (train, None))
    monkeypatch.setattr(program.catalogue, "describe", lambda name: SimpleNamespace(lags=1))
    return program


class Foretold:
    """Predicts a given number everywhere; remembers what it was shown."""

    Config = method("constant").Config
    training_ = None

    def __init__(self, seed, level=0.0):
        self.level = level

    def fit(self, record):
        if self.level is None:
            raise ValueError("cannot")
        self.shown = record
        return self

    def evaluate(self, record):
        return {"rmse": float(np.sqrt(np.mean((record.y - self.level) ** 2)))}


def test_the_last_third_of_the_training_part_is_held_back(choices):
    first, last = choices.held_back("any")
    assert (len(first), len(last)) == (60, 30)
    np.testing.assert_array_equal(last.u[:, 0], np.arange(60.0, 90.0))


@pytest.mark.parametrize(
    ("level", "ratio"),
    [(1.0, 1.0), (2.5, 0.5), (4.0, 0.0), (1e9, 10.0), (np.nan, 10.0), (None, 10.0)],
)
def test_a_run_is_judged_by_its_error_relative_to_the_constant(choices, monkeypatch, level, ratio):
    """The first two thirds have mean 1, the last third is 4, so the constant has error 3; ten times
    that is the worst.
    """
    monkeypatch.setattr(choices, "method", lambda name: Foretold)
    found = choices.study("any", "set", {"level": level}, 0)
    assert found["ratio"] == pytest.approx(ratio)
    assert (found["failed"] == "ValueError: cannot") == (level is None)


def test_lowest_geometric_mean_comes_first_and_only_whole_rows_count(choices):
    labels = list(choices.CANDIDATES["msgp"])[:3]
    # means 1 and 0.632; the last lacks a set
    ratios = {labels[0]: (1.0, 1.0), labels[1]: (0.1, 4.0), labels[2]: (0.01,)}
    rows = {
        f"{label}{i}": {"method": "msgp", "candidate": label, "set": f"set{i}", "ratio": ratio}
        for label, found in ratios.items()
        for i, ratio in enumerate(found)
    }
    lines = choices.table("msgp", rows, ["set0", "set1"]).splitlines()
    assert lines[2:] == [
        f"| {labels[1]} | 0.100 | 4.000 | 0.6325 |",
        f"| {labels[0]} | 1.000 | 1.000 | 1.0000 |",
    ]


def test_the_winners_are_the_defaults(choices):
    """What the tables of docs/studies/reference-methods.md put first, by name."""
    winners = {
        "nigp": "each, 100 a round, start 0.03",
        "msgp": "150 steps, horizon 100, batch 5",
        "ss-gp-ssm": "mean linear, signal 3, length scale 1",
    }
    page = (PROGRAM.parents[1] / "docs" / "studies" / "reference-methods.md").read_text()
    for name, label in winners.items():
        options = choices.CANDIDATES[name][label]
        default = method(name)().config.to_dict()
        # K is the paper's; the comparison ran half of it
        fixed = {"iterations"} if name == "ss-gp-ssm" else set()
        assert {key: default[key] for key in options if key not in fixed} == {
            key: value for key, value in options.items() if key not in fixed
        }
        head = next(i for i, line in enumerate(page.splitlines()) if line.startswith(f"| {name} |"))
        assert page.splitlines()[head + 2].startswith(f"| {label} |")
