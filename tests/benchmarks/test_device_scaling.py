"""The scaling benchmark: its ratios are those of the record."""

from importlib import import_module

import pytest


@pytest.fixture
def scaling():
    return import_module("scaling")


def test_ratios_are_those_of_the_record(scaling):
    times = {(1, 10): 8.0, (2, 10): 5.0, (2, 20): 10.0, (1, 20): 15.0}
    cases = [
        {
            "case": name,
            "devices": p * d,
            "batch": b,
            "min_ms": times[p * d, b],
            "median_ms": 20.0,
            "gradient_bytes": 16,
        }
        for name, (p, d, b) in scaling.CASES.items()
    ]
    record = {
        "cases": cases,
        "load_before": [0.1],
        "load_after": [0.2],
        "provenance": {"machine": "m", "device": "cpu", "commit": "c", "versions": {"jax": "1"}},
    }
    text = scaling.table(record)
    assert "| strong: two processes | 2 | 10 | 5.0 (20.0) | 1.60 | 80 % |" in text
    assert "| weak: two devices of one process | 2 | 20 | 10.0 (20.0) | 1.50 | 75 % |" in text
    # 8 ms alone, 10 ms for twice the batch
    assert "80 % for two processes." in text.splitlines()[-1]


def test_the_clock_leaves_out_what_compiles(scaling):
    clock = scaling.Clock()
    clock.times = [(10, 9.0), (20, 9.5), (30, 10.0), (40, 10.1), (50, 10.3)]
    assert clock.milliseconds() == {"min_ms": pytest.approx(10.0), "median_ms": pytest.approx(15.0)}
