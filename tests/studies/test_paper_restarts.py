"""The study of restarts: what the best of some errs by in the mean, and how it is told."""

from itertools import combinations

import numpy as np
import paper_restarts
import pytest


@pytest.mark.parametrize("chosen", [1, 3, 6])
def test_the_expected_error_is_that_over_all_ways_to_draw(chosen: int) -> None:
    errors = [0.5, 0.1, 0.4, 0.2, 0.9, 0.3]  # of restarts, the best ELBO first
    best = [errors[min(drawn)] for drawn in combinations(range(len(errors)), chosen)]
    brute = np.exp(np.mean(np.log(best)))
    assert paper_restarts.expected(errors, chosen) == pytest.approx(brute)


def test_a_table_has_a_line_for_each_task_and_one_for_all() -> None:
    rows = [
        {"task": "one", "error": [0.1] * paper_restarts.TRAINED},
        {"task": "two", "error": [0.4] * paper_restarts.TRAINED},
    ]
    lines = paper_restarts.page(rows).splitlines()
    assert lines[0] == "| task | any one | best of 4 | best of 8 | best of 16 | best of 24 |"
    assert lines[2].startswith("| one | 0.100 | 0.100 |")
    assert lines[-1].startswith("| geometric mean | 0.200 | 0.200 |")


def test_restarts_that_diverged_are_none_that_could_be_drawn() -> None:
    few = {"task": "few", "error": [0.2, 0.3]}
    (line,) = paper_restarts.page([few]).splitlines()[2:-1]
    assert line == "| few | 0.245 | 0.200 | 0.200 | 0.200 | 0.200 |"
