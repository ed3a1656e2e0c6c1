"""Time to accuracy: where a curve counts as there, and what its table says."""

from importlib import import_module

import numpy as np
import pytest


@pytest.fixture
def program():
    return import_module("time_to_accuracy")


def test_the_running_mean_is_that_of_the_last_five(program):
    curve = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    np.testing.assert_allclose(program.running_mean(curve), [0, 5, 10, 15, 20, 30])
    assert program.points_to(curve, 15.0) == 4
    assert program.points_to(curve, 15.1) == 5
    assert program.points_to(curve, 31.0) is None


def record(configuration, seconds_a_point, elbo, points=None):
    return {
        "set": "dryer",
        "configuration": configuration,
        "iterations": 60,
        "seed": 0,
        "steps": 100,
        "compile_seconds": 2.0,
        "seconds": [seconds_a_point * (i + 1) for i in range(points or len(elbo))],
        "elbo": elbo,
        "load": 0.1,
        "provenance": {"machine": "a machine", "commit": "abc"},
    }


def test_the_table_compares_the_oracle_with_the_fastest_that_arrives(program):
    """The goal is 30 - 5: running means 0, 5, 10, 15, 20, 30 pass it at the sixth point, 0, 30, 45,
    ... at the second.
    """
    slow = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    quick = [0.0, 60.0, 75.0, 80.0, 80.0, 80.0]
    late = [0.0, 1.0, 2.0, 3.0, 4.0]
    curves = dict(
        zip(
            program.CONFIGURATIONS,
            [(8.0, [], 2), (2.0, slow), (1.0, quick), (0.5, late)],
            strict=True,
        )
    )
    text = program.text([record(name, *curve) for name, curve in curves.items()])
    assert (
        "| Dryer | 0.250 | 48 s (60) | 12.0 s (60) | 2.0 s (20) | not reached (0.230 below) | 24 |"
        in text
    )
    assert "commit abc" in text
    # a set that is not complete has no row
    assert program.table([record(program.BEFORE, 8.0, [], points=2)]).count("\n") == 1
