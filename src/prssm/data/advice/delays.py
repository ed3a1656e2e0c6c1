"""Dead time: how many first lags of an input say nothing of an output.

Models y(t) = past outputs + inputs from lag d to a last lag are nested in d. Lags are left out
from the front until the log-likelihood falls by more than chance: a little (the shortest delay)
or by far (the longest). A fit says a delay only where it is sure: a slow system in noise looks late
too.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prssm.data.advice.excitation import FEWEST_SWINGS, swings
from prssm.data.advice.looked import Looked
from prssm.data.advice.note import Note
from prssm.data.advice.regression import Lags

REACH = 40  # rows of delay that are looked for
_PAST = 6  # past outputs in a model
_USUAL = 6  # lags of the other inputs
_SAYS_NOTHING = 0.99  # quantile of chance below which what was left out says nothing
_SAYS_MUCH = 0.9999
_LEAST = 6  # rows: less is the dynamics' own matter
_LONG = 12  # rows: a shorter delay is held by a model's states
_LONGER_PAST = 20  # past outputs, which tell the smooth answer of a slow system
_SURE = 50.0  # twice the logarithm by which a long delay is likelier than a slow system
_FEWEST = 150  # rows to look at
_ROWS_A_LAG = 8  # that there must be
_NEWS = 1e-3  # of an input's variance that its own past does not tell: less hides any delay
_EXPLAINS = 0.05  # of what past outputs leave: less says nothing of a delay


class DelayRange(NamedTuple):
    """Rows after which an output answers an input: the likeliest, the fewest and the most."""

    best: int
    low: int
    high: int


def delay_between(lags: Lags, number: int, inputs: int, *, least: int = 0) -> DelayRange | None:
    """The delay from one of so many inputs to the output of these lags.

    None where the input says too little of it, or what it says is no delay of `least` rows.
    """
    base = _beside(lags, number, inputs)
    if lags.rows < max(_FEWEST, 2 * (len(base) + lags.reach)) or least > lags.reach:
        return None
    if lags.news(number) < _NEWS:
        return None

    def error(late: int) -> float:
        return lags.error(base + lags.inputs(number, late, lags.reach + 1 - late))

    whole = error(0)
    without = lags.error(base)
    gain = lags.rows * np.log(without / whole)
    if 1.0 - whole / without < _EXPLAINS or gain < _chance(_SAYS_MUCH, lags.reach + 1):
        return None
    # most inputs act at once, which one model tells
    if least and lags.rows * np.log(error(least) / whole) > _chance(_SAYS_NOTHING, least):
        return None
    loss = lags.rows * np.log([error(late) / whole for late in range(1, lags.reach + 1)])
    left_out = np.arange(1, lags.reach + 1)
    low, best, high = (
        _longest(loss <= limit)
        for limit in (
            _chance(_SAYS_NOTHING, left_out),
            left_out * np.log(lags.rows),
            _chance(_SAYS_MUCH, left_out),
        )
    )
    return DelayRange(min(max(best, low), max(low, high)), low, max(low, high))


def lags_of(looked: Looked, output: int) -> Lags:
    """What a delay of any input to this output is found in."""
    reach = min(REACH, looked.rows // _ROWS_A_LAG)
    return Lags.of(looked.records, output, past=_PAST, reach=reach)


def _likelier(looked: Looked, number: int, output: int, rows: int) -> float:
    """Twice the logarithm by which an input that acts so late is likelier than a slow system.

    The first rows of a slow system's answer drown in noise, so that they say nothing either. But it
    is smooth: a few of its inputs and a longer past tell as much. Both models have as many numbers.
    """
    lags = Lags.of(looked.records, output, past=_LONGER_PAST, reach=rows + _USUAL)
    base = _beside(lags, number, looked.records[0].input_dim)
    late = lags.error(base + lags.inputs(number, rows, _USUAL))
    slow = min(lags.error(base + lags.inputs(number, d, _USUAL)) for d in range(_USUAL // 2 + 1))
    return float(lags.rows * np.log(slow / late))


def _beside(lags: Lags, number: int, inputs: int) -> list[int]:
    """Columns of all models of an input's delay: past outputs, and some lags of other inputs."""
    others = [i for i in range(inputs) if i != number]
    return lags.outputs() + [column for i in others for column in lags.inputs(i, 0, _USUAL)]


def _chance(share: float, freedom: np.ndarray | int) -> np.ndarray:
    """What twice the logarithm of a likelihood ratio stays below by chance, in this share of cases.

    It is the quantile of the chi-squared distribution; SciPy's own takes a second to load.
    """
    from scipy.special import gammaincinv

    return 2.0 * gammaincinv(np.asarray(freedom) / 2.0, share)


def _longest(fits: np.ndarray) -> int:
    """How many of the first ones are all true."""
    wrong = np.flatnonzero(~fits)
    return int(wrong[0]) if len(wrong) else len(fits)


def delay(looked: Looked, *, sure: bool = False) -> Iterator[Note]:
    """Inputs that act some rows later; where it must be sure, many rows and no slow system."""
    first = looked.records[0]
    least = _LONG if sure else _LEAST
    moving = [swings(column) >= FEWEST_SWINGS for column in looked.columns()]
    for output, output_name in enumerate(first.output_names):
        lags = lags_of(looked, output)
        for number, name in enumerate(first.input_names):
            if not moving[number]:
                continue
            found = delay_between(lags, number, first.input_dim, least=least)
            if found is None or found.low < least:
                continue
            if sure and _likelier(looked, number, output, found.low) < _SURE:
                continue
            rows = found.low - 1  # a model answers one row later by itself
            yield Note(
                "delay",
                name,
                f"output {output_name!r} answers input {name!r} after "
                f"{looked.spell(found.best)}, at least {found.low} and at most {found.high} rows",
                f"hand the input over later (preprocess 'delay={name}:{rows}')",
                step=f"delay={name}:{rows}",
            )
