"""Every file of the tables reads right or is refused with its line; nothing is read wrong."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from binary_table import BINARY
from file_table import LAYOUT, MISSING, NUMBERS, UNITS, Case
from time_table import GRIDS, TIMES

from prssm.data.io.files import read
from prssm.data.record import Record
from prssm.foundation.errors import PrssmError, PrssmWarning

CASES = [*LAYOUT, *UNITS, *NUMBERS, *MISSING, *TIMES, *GRIDS, *BINARY]


def written(case: Case, folder: Path) -> Path:
    path = folder / case.file
    if isinstance(case.content, str):
        path.write_text(case.content, encoding="utf-8", newline="")
    elif isinstance(case.content, bytes):
        path.write_bytes(case.content)
    else:
        case.content(path)
    return path


def records_in(case: Case, path: Path) -> list[Record]:
    found = read(path, **case.how)
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_file_reads_right_or_is_refused(case: Case, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    if case.refused is not None:
        with pytest.raises(PrssmError) as caught:
            records_in(case, path)
        assert case.refused in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        records = records_in(case, path)
    _check_warnings(case, said)
    assert len(records) == case.parts
    u = np.concatenate([record.u for record in records])[:, 0]
    y = np.concatenate([record.y for record in records])[:, 0]
    np.testing.assert_allclose(u, case.u, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(y, case.y, rtol=1e-12, atol=1e-9)
    for record in records:
        assert record.dt == (None if case.dt is None else pytest.approx(case.dt, rel=1e-3))


def _check_warnings(case: Case, said: list) -> None:
    """Only what the table holds is said, and by this package."""
    assert [warning.category for warning in said] == [PrssmWarning] * (case.warned is not None)
    if case.warned is not None:
        assert case.warned in str(said[0].message)


def test_the_table_is_large_and_its_labels_differ() -> None:
    assert len(CASES) >= 120
    assert len({case.label for case in CASES}) == len(CASES)
