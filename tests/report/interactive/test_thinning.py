"""Fewer rows of a long recording: true rows, all extremes, a bounded number, gaps that stay."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.report.interactive.thinning import kept_rows, marked_spans

LONG = 100_000


@pytest.fixture(scope="module")
def columns() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(LONG, 3)), axis=0)
    return list(walk.T)


def test_few_rows_are_all_kept() -> None:
    np.testing.assert_array_equal(kept_rows([np.zeros(50)], most=50), np.arange(50))


def test_a_long_recording_keeps_ends_and_extremes_of_every_column(columns) -> None:
    kept = kept_rows(columns, most=4000)
    assert len(kept) <= 4002
    assert kept[0] == 0
    assert kept[-1] == LONG - 1
    assert (np.diff(kept) > 0).all()
    edges = np.linspace(0, LONG, 4000 // 6 + 1).astype(int)
    for column in columns:
        for begin, end in pairwise(edges):
            mine = kept[(kept >= begin) & (kept < end)]
            assert column[mine].min() == column[begin:end].min()
            assert column[mine].max() == column[begin:end].max()


def test_one_row_that_stands_out_stays() -> None:
    values = np.zeros(LONG)
    values[71_234] = 5.0
    assert 71_234 in kept_rows([values], most=1000)


def test_a_gap_stays_a_gap() -> None:
    values = np.sin(np.arange(LONG) / 50.0)
    values[20_000:40_000] = np.nan
    kept = kept_rows([values], most=2000)
    inside = kept[(kept >= 20_100) & (kept < 39_900)]
    assert len(inside) > 100
    assert np.isnan(values[inside]).all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_spans_cover_the_marked_rows_and_no_others(marked: list[bool]) -> None:
    rows = np.array(marked)
    time = 0.5 * np.arange(len(rows))
    begin, end = marked_spans(time, rows)
    covered = np.any((time >= begin[:, None]) & (time <= end[:, None]), axis=0)
    np.testing.assert_array_equal(covered, rows)
    assert (begin[1:] > end[:-1]).all()


def test_many_spans_are_joined_over_the_smallest_gaps() -> None:
    rows = np.zeros(1000, dtype=bool)
    rows[::2] = True  # 500 spans
    rows[400:600] = False
    begin, end = marked_spans(np.arange(1000.0), rows, most=2)
    np.testing.assert_array_equal(begin, [-0.5, 599.5])
    np.testing.assert_array_equal(end, [398.5, 998.5])
