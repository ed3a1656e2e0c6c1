"""What is held out: every row on one side only, and enough of them."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.evaluation.search.validation import Validation
from prssm.foundation.errors import DataError, OptionError


def record(rows, first=0):
    """A record whose inputs say which row is which."""
    return Record(np.arange(first, first + rows, dtype=float), np.sin(np.arange(rows)))


def rows_of(records):
    return [int(value) for part in records for value in part.u[:, 0]]


def test_the_tail_of_every_record():
    ((fit, held_out),) = Validation(0.25).splits([record(80), record(100, 100)])
    assert rows_of(fit) == [*range(60), *range(100, 175)]
    assert rows_of(held_out) == [*range(60, 80), *range(175, 200)]


def test_of_many_records_whole_ones():
    ((fit, held_out),) = Validation(0.25).splits([record(20, 20 * i) for i in range(8)])
    assert rows_of(held_out) == [*range(60, 80), *range(140, 160)]
    assert sorted(rows_of(fit) + rows_of(held_out)) == list(range(160))


def test_folds_hold_every_row_out_once():
    found = Validation(folds=3).splits([record(90)])
    assert sorted(row for _, held_out in found for row in rows_of(held_out)) == list(range(90))
    for fit, held_out in found:
        assert sorted(rows_of(fit) + rows_of(held_out)) == list(range(90))


@pytest.mark.parametrize("validation", [Validation(0.1), Validation(0.99), Validation(folds=5)])
def test_too_little_data_is_said(validation):
    with pytest.raises(DataError, match="too short to hold a stretch out"):
        validation.splits([record(70)])


def test_a_stretch_that_was_not_measured_is_no_test():
    whole = record(80)
    gappy = Record(whole.u, np.where(np.arange(80)[:, None] < 60, whole.y, np.nan))
    with pytest.raises(DataError, match="too short"):
        Validation(0.25).splits([gappy])


def test_fractions_and_counts_are_checked():
    with pytest.raises(OptionError, match="--hold-out"):
        Validation(1.0)
    with pytest.raises(OptionError, match="--folds"):
        Validation(folds=1)
