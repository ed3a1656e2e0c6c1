"""How far an axis reaches: the lines fill it, whatever their unit and their offset."""

import numpy as np
import pytest

from prssm.report.limits import limits


@pytest.mark.parametrize("unit", [1e-15, 1.0, 1e15])
def test_lines_fill_the_axis_in_any_unit(unit: float) -> None:
    line = unit * np.linspace(-1.0, 1.0, 9)
    found = limits(line, line, line, most=1.0)
    assert found == pytest.approx((-1.08 * unit, 1.08 * unit), rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 5.0, 1e9, -1e-15])
def test_a_line_that_never_moves_has_room(value: float) -> None:
    line = np.full(9, value)
    found = limits(line, line, line, most=1.0)
    assert found is not None
    bottom, top = found
    assert bottom < value < top
