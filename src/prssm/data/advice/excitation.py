"""Is an input rich enough: does it move often, at several sizes, at several frequencies?"""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked, Whole
from prssm.data.advice.note import Note

_ALWAYS = 0.99  # of the rows at one value: the column hardly moves
FEWEST_SWINGS = 6  # independent values, fewer are too few
_ORDER = 5  # of persistent excitation; a sum of two sines has less
_SIZE = 20  # of the matrix whose rank is the order
_NOTHING = 1e-4  # of the largest eigenvalue: less is no excitation


def still(looked: Looked) -> Iterator[Note]:
    """Columns that are constant, or nearly."""
    for column in looked.columns():
        known = column.known
        if not len(known):
            continue
        values, counts = np.unique(known, return_counts=True)
        share = counts.max() / len(known)
        if share < _ALWAYS:
            continue
        usual = values[np.argmax(counts)]
        constant = len(values) == 1
        yield Note(
            "constant",
            column.name,
            f"{column.label} is {usual:.6g} in {'all' if constant else f'{share:.1%} of the'} rows",
            "leave it out, it says nothing" if constant else "record a time in which it moves more",
        )


def poor(looked: Looked) -> Iterator[Note]:
    """Inputs that move too seldom, at too few levels, or at too few frequencies."""
    for column in looked.columns():
        if column.word != "input" or not np.ptp(column.known) > 0.0:
            continue
        levels = len(np.unique(column.known))
        moves = swings(column)
        order = excitation_order(column)
        if moves < FEWEST_SWINGS:
            yield _note(
                column,
                f"{column.label} makes only about {moves:.0f} independent moves",
                "record more of it, or move the input more often",
            )
        elif order < _ORDER:
            yield _note(
                column,
                f"{column.label} holds about {order} of {_ORDER} directions: it excites at "
                f"{(order + 1) // 2} frequencies only",
                "move it at more frequencies, as steps at random times do",
            )
        if levels == 2:
            yield Note(
                "two levels",
                column.name,
                f"{column.label} has 2 levels only",
                "add levels between and beyond them if the system may be nonlinear",
            )


def _note(column: Whole, says: str, do: str) -> Note:
    return Note("excitation", column.name, says, do)


def swings(column: Whole) -> float:
    """About how many independent values a column has: how often it crosses its middle."""
    return sum(_swings(part) for part in column.parts)


def _swings(values: np.ndarray) -> float:
    middle = np.median(values)
    if not np.ptp(values) > 0.0:
        return 0.0
    if np.mean(values == middle) > 0.25:
        middle = values.mean()
    return float(np.sum(np.diff(values > middle) != 0)) + 1.0


def excitation_order(column: Whole) -> int:
    """The order of persistent excitation, up to the size of the matrix.

    It is the rank of the covariance of lagged values, at the pace at which the input moves: a
    constant has order 1, each sine 2.
    """
    longest = max(column.parts, key=len)
    longest = longest / (np.abs(longest).max() or 1.0)  # squares of tiny values are no numbers
    pace = _pace(longest)
    slow = longest[::pace]
    size = min(_SIZE, len(slow) // 4)
    if size < 2:
        return size
    scaled = (slow - slow.mean()) / slow.std() if slow.std() > 0.0 else slow
    table = np.lib.stride_tricks.sliding_window_view(scaled, size)
    values = np.linalg.eigvalsh(table.T @ table / len(table))
    return int(np.sum(values > _NOTHING * values[-1]))


def _pace(values: np.ndarray) -> int:
    """Rows after which a value says little of the next: the correlation is a half."""
    away = values - values.mean()
    spectrum = np.abs(np.fft.rfft(away, 2 * len(away))) ** 2
    correlation = np.fft.irfft(spectrum)[: len(away)]
    below = np.flatnonzero(correlation < 0.5 * correlation[0])
    return max(1, int(below[0])) if len(below) else 1
