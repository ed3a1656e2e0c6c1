"""How long a user waits: phases add up to the whole, and the table says what the record says."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from prssm.data.io.files import write_columns


@pytest.fixture
def phases_module():
    return import_module("fit_phases")


@pytest.fixture
def program():
    return import_module("fit_time")


class Clock:
    """Moves when told to."""

    now = 100.0

    def time(self) -> float:
        return self.now

    perf_counter = time


def test_a_phase_within_another_is_not_counted_twice(
    phases_module, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(phases_module, "time", clock)
    phases = phases_module.Phases(clock.now)

    class Model:
        def train(self) -> None:
            clock.now += 2.0
            phases.add(phases_module.COMPILE, 1.5)

        def save(self) -> None:
            clock.now += 4.0

        def fit(self) -> None:
            clock.now += 8.0
            self.train()
            self.save()
            self.train()
            self.save()

    phases.wrap(Model, "train", phases_module.TRAIN)
    phases.wrap(Model, "save", phases_module.SAVE)
    phases.wrap(Model, "fit", phases_module.CHOOSE)
    Model().fit()
    clock.now += 16.0
    record = phases.record()
    expected = {"compile": 3.0, "train": 1.0, "save": 8.0, "choose": 8.0, "rest": 16.0}
    assert {name: record["phases"][name] for name in expected} == pytest.approx(expected)
    assert record["total"] == 36.0
    assert record["first_model"] == 14.0


def test_a_command_is_timed_and_its_phases_are_found(program, tmp_path: Path) -> None:
    """If the package's functions change their names, this fails."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1.0, 1.0, 100)
    y = np.convolve(u, [0.0, 0.5, 0.3])[:100] + 0.01 * rng.normal(size=100)
    write_columns(tmp_path / "log.csv", {"u": u, "y": y})
    found = program.timed(["fit", "log.csv", "--quiet", *program.QUICK], tmp_path)
    times = found["phases"]
    assert min(times[name] for name in ("import", "linear start", "train", "save")) > 0.0
    assert sum(times.values()) == pytest.approx(found["total"])
    assert times["choose"] > 0.0
    assert 0.0 < found["first_model"] < found["total"]
    assert found["processor"] > 0.5


def test_the_table_has_ratios_to_the_scan(program) -> None:
    found = {
        "total": 30.0,
        "first_model": 6.0,
        "processor": 40.0,
        "phases": dict.fromkeys(program.PHASES, 1.0),
    }
    record = {
        "provenance": {"machine": "a machine", "device": "cpu", "commit": "abc"},
        "load_before": (0.1, 0, 0),
        "load_after": (0.2, 0, 0),
        "scan_seconds": 0.2,
        "quick": False,
        "cases": {"drives": found, "simulate": found | {"total": 2.0, "first_model": None}},
    }
    page = program.text(record)
    assert "| fit, 250 rows (Drives) | 30.0 | 150 | 40.0 | 1.0 |" in page
    assert "| simulate, 500 rows | 2.0 | 10 |" in page
    assert "(Drives): until the first usable model | 6.0 | 30 |" in page
    assert page.count("until the first") == 1
    assert "commit abc;\nload average 0.10 and 0.20" in page
