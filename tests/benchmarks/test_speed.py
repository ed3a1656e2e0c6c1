"""The speed benchmark: what it compares computes the same thing, and its page says what the record
says.
"""

from importlib import import_module

import jax
import numpy as np
import pytest

from prssm.foundation.precision import double_precision


def test_the_obvious_way_computes_what_the_others_compute():
    work_module = import_module("speed_work")
    work = work_module.Work(2, 1, 1, 4, 3, 2, 17)
    with double_precision():
        model, data = work_module.make(work)
        values = [
            jax.jit(work_module.objective(work, engine))(model, data, jax.random.key(0))
            for engine in ("batch-first", "auto")
        ]
    np.testing.assert_allclose(*values, rtol=1e-9)


@pytest.fixture
def record():
    times = {"min_ms": 5.0, "median_ms": 6.0}
    rows = [
        {"work": work, "engine": engine, "parameters": kind, "min_ms": ms, "median_ms": 2 * ms}
        for work in "RS"
        for engine, kind, ms in (
            ("batch-first", "float32", 120.0),
            ("batch-first", "float64", 200.0),
            ("native-single", "float64", 10.0),
            ("native", "float64", 25.0),
        )
    ]
    sizes = [(size, factor) for size in ("horizon", "samples", "batch") for factor in (1, 2, 4)]
    return {
        "provenance": {
            "machine": "a machine",
            "device": "cpu",
            "commit": "abc",
            "versions": {"jax": "1"},
        },
        "native": "built",
        "load_before": (0.1, 0, 0),
        "load_after": (0.2, 0, 0),
        "seconds": 3.0,
        "iterations": rows,
        "shared": [
            {
                "work": "S",
                "draws": "step",
                "own": times,
                "shared": {"min_ms": 2.0, "median_ms": 2.5},
            }
        ],
        "default": [
            {"engine": engine, "restarts": 32, "min_ms": ms, "median_ms": 2 * ms}
            for engine, ms in (("trainer", 16.0), ("native-single", 40.0), ("adjoint", 160.0))
        ],
        "agreement": [{"work": "R", "engine": "native", "states": 1e-16, "gradient": 2e-15}],
        "growth": [{"size": size, "factor": factor, **times} for size, factor in sizes],
        "restarts": {"count": 8, **times},
        "free_run": {"steps": 10, "samples": 2, **times},
        "one_step": [{"work": "R", "min_us": 40.0, "median_us": 50.0}],
        "memory": [{"engine": "native", "steps": 10, "trajectories": 2, "peak_gib": 1.5}],
        "start": {"process_seconds": 7.0},
    }


def test_ratios_are_to_the_obvious_way_in_the_same_precision(record):
    page = import_module("speed_page").page(record)
    assert "| C++ (`native-single`) | float64, float32 | 10.0 (20.0) | 12.0 |" in page
    assert "| C++ (`native`) | float64 | 25.0 (50.0) | 8.0 |" in page
    assert "| JAX, recursion in C++ (`native-single`) | 40.0 (80.0) | 1.25 | 2.5 |" in page
    assert "1.50 GiB" in page
    assert "| S | step | 5.0 (6.0) | 2.0 (2.5) | 2.5 |" in page
    assert "commit abc" in page


def test_the_page_keeps_what_other_commands_have_written(record):
    sections = import_module("prssm.report.page_sections")
    speed_page = import_module("speed_page")
    old = sections.with_section(speed_page.page(record), "gpu", "## On a GPU\n\nfast")
    old = sections.with_section(old, "gpu", "## On a GPU\n\nfaster")  # in the place of the first
    new = speed_page.page(record, f"{old}\nsomething else")
    assert new.count("<!-- gpu:begin -->\n## On a GPU\n\nfaster\n<!-- gpu:end -->") == 1
    assert new.count("fast") == speed_page.page(record).count("fast") + 1
    assert "something else" not in new
    assert speed_page.page(record, new) == new  # nothing grows


def test_the_default_iterations_learn_from_the_same_start():
    """Their random numbers differ, so that only their steps are alike: Adam's first ones have the
    size of the learning rate.
    """
    default = import_module("speed_default")
    with double_precision():
        work = default.Default.make(restarts=2, horizon=20)
        start = work.fitting.trained.stages[0].theta
        moved = [np.abs(work.chunk(engine)() - start) for engine in ("trainer", "native-single")]
    compiled, in_jax = moved
    np.testing.assert_array_equal(compiled > 0.0, in_jax > 0.0)
    assert 0.8 < np.median(compiled) / np.median(in_jax) < 1.25
