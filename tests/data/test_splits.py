"""Holding data out: no row on both sides, none lost, and over all folds each held out once."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.data.record import Record
from prssm.data.splits import Stretch, can_be_cut, ends, folds, split, tail, without
from prssm.data.windows import usual_length

LENGTHS = st.lists(st.integers(2, 90), min_size=1, max_size=12)


def records(lengths):
    """Records whose inputs number the rows of all of them."""
    first = np.cumsum([0, *lengths])
    return [
        Record(np.arange(begin, begin + rows, dtype=float), np.zeros(rows), name=f"r{i}")
        for i, (begin, rows) in enumerate(zip(first, lengths, strict=False))
    ]


def rows_of(parts):
    return [int(value) for part in parts for value in part.u[:, 0]]


def check_nothing_shared_or_lost(data, stretches):
    shown, held_out = split(data, stretches)
    assert rows_of(shown) == sorted(rows_of(shown))  # the records keep their order
    assert sorted(rows_of(shown) + rows_of(held_out)) == rows_of(data)
    assert sum(stretch.rows for stretch in stretches) == len(rows_of(held_out))


@settings(deadline=None)
@given(LENGTHS, st.integers(2, 5), st.integers(2, 20))
def test_folds_show_and_hold_out_each_row_of_a_record_that_is_long_enough(lengths, count, least):
    data = records(lengths)
    plans = folds(data, count, least)
    usual = usual_length(data)
    whole = sum(rows >= usual // 2 for rows in lengths) >= max(4, count)
    limit = min(usual // 2, least) if whole else count * least
    long_enough = [r for r in data if len(r) >= limit]
    assert len(plans) == (count if long_enough else 0)
    held = Counter(row for plan in plans for row in rows_of(split(data, plan).held_out))
    assert held == Counter(rows_of(long_enough))
    for plan in plans:
        check_nothing_shared_or_lost(data, plan)
        assert whole or min(stretch.rows for stretch in plan) >= least


@settings(deadline=None)
@given(LENGTHS, st.integers(2, 5), st.integers(2, 20))
def test_fewer_folds_hold_every_row_out_once_of_records_that_can_be_cut(lengths, count, least):
    data = records(lengths)
    plans = folds(data, count, least, fewer=True)
    usual = usual_length(data)
    several = sum(rows >= usual // 2 for rows in lengths)
    whole = several >= 4
    possible = min(count, several if whole else max(2, usual // least))
    usable = [r for r in data if len(r) >= (min(usual // 2, least) if whole else possible * least)]
    assert len(plans) == (possible if usable else 0)
    held = [row for plan in plans for row in rows_of(split(data, plan).held_out)]
    assert sorted(held) == rows_of(usable)
    for plan in plans:
        check_nothing_shared_or_lost(data, plan)


@settings(deadline=None)
@given(LENGTHS, st.floats(0.05, 0.95))
def test_a_tail_is_a_fraction_of_the_data_or_nothing(lengths, fraction):
    data = records(lengths)
    plan = tail(data, fraction)
    check_nothing_shared_or_lost(data, plan)
    every = max(2, round(1 / fraction))
    if len(data) >= 2 * every:
        assert [stretch.record for stretch in plan] == list(range(every - 1, len(data), every))
        assert all(stretch.rows == lengths[stretch.record] for stretch in plan)
    elif plan:
        assert [stretch.record for stretch in plan] == list(range(len(data)))
        for stretch, rows in zip(plan, lengths, strict=True):
            assert stretch.end == rows
            assert abs(stretch.rows - fraction * rows) <= 0.5 + 1e-9
    else:
        assert min(min(rows - fraction * rows, fraction * rows) for rows in lengths) <= 1.5 + 1e-9


@settings(deadline=None)
@given(LENGTHS, st.floats(0.0, 1.0))
def test_ends_begin_after_the_shown_share(lengths, shown):
    data = records(lengths)
    plan = ends(data, shown)
    for stretch, rows in zip(plan, lengths, strict=True):
        assert abs(stretch.begin - shown * rows) <= 0.5
        assert can_be_cut(stretch) == (2 <= stretch.begin <= rows - 2)
    if all(can_be_cut(stretch) for stretch in plan):
        check_nothing_shared_or_lost(data, plan)


def test_pieces_between_stretches_whatever_their_order():
    (data,) = records([20])
    left = without(data, [Stretch(0, 12, 15), Stretch(0, 0, 4), Stretch(0, 5, 7)])
    # row 4 stands alone between two stretches, and a Record has at least two rows
    assert [rows_of([part]) for part in left] == [[7, 8, 9, 10, 11], [15, 16, 17, 18, 19]]
    assert rows_of(without(data, [])) == list(range(20))
    assert without(data, [Stretch(0, 0, 20)]) == []


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_folds_hold_nothing_out(count):
    assert folds(records([100, 100]), count) == []


def test_whole_records_go_to_the_folds_in_turn():
    plans = folds(records([5, 6, 7, 8, 9]), 2)
    assert plans == [
        [Stretch(0, 0, 5), Stretch(2, 0, 7), Stretch(4, 0, 9)],
        [Stretch(1, 0, 6), Stretch(3, 0, 8)],
    ]
