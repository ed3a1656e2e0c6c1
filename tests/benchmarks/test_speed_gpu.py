"""The GPU benchmark's section of the performance page."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(FOLDER), *sys.path])
        import speed_gpu_page

        yield speed_gpu_page


SIZES = {
    "latent_dim": 2,
    "input_dim": 1,
    "output_dim": 1,
    "points": 3,
    "samples": 5,
    "batch": 7,
    "horizon": 11,
}


def test_the_operations_are_those_of_the_formulas(page):
    """Counted one by one: products with triangles and rectangles, forward, again backward, and the
    backward ones.
    """
    triangle = sum(row + 1 for row in range(3))
    rectangle = 3 * 3
    forward = rectangle + 2 * triangle
    # V c, W'g; dL/dV, dL/dW; slopes by xu and by zeta
    backward = forward + 2 * triangle + 2 * triangle + 2 * rectangle
    assert page.least_operations(SIZES) == 2 * (forward + backward) * 2 * 5 * 7 * 10


def test_the_floor_of_many_restarts_is_that_of_one_times_their_number_but_for_the_steps(page):
    one, many = (
        page.floors({"engine": "cuda", "sizes": SIZES, "restarts": count}) for count in (1, 64)
    )
    assert many["operations"] == 64 * one["operations"]
    assert many["memory_ms"] == pytest.approx(64 * one["memory_ms"])
    assert many["steps_ms"] == one["steps_ms"]


def test_ratios_are_to_the_scan_of_the_same_work(page):
    rows = [
        {
            "work": work,
            "sizes": SIZES,
            "restarts": 1,
            "engine": engine,
            "min_ms": ms,
            "median_ms": 2 * ms,
        }
        for work, engine, ms in (
            ("R", "scan", 8.0),
            ("R", "cuda-single", 0.5),
            ("S", "scan", 9.0),
            ("S", "cuda", 3.0),
        )
    ]
    record = {
        "provenance": {
            "machine": "a machine",
            "device": "gpu: one",
            "commit": "abc",
            "versions": {"jax": "1"},
        },
        "engine": "built",
        "seconds": 3.0,
        "rows": rows,
        "agreement": [{"work": "R", "engine": "cuda", "states": 1e-16, "gradient": 2e-15}],
    }
    text = page.section(record)
    assert "| R | CUDA, recursion in float32 (`cuda-single`) | 0.50 (1.00) | 16.0 |" in text
    assert "| S | CUDA (`cuda`) | 3.00 (6.00) | 3.0 |" in text
    assert "| R | `cuda` | 1e-16 | 2e-15 |" in text
    assert "commit abc" in text
