"""Dead time: how many first lags of an input say nothing of an output.

Models y(t) = past outputs + inputs from lag d to a last lag are nested in d. Lags are left out
from the front until the log-likelihood falls by more than chance: a little (the shortest delay)
or by far (the longest).
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
_FEWEST = 150  # rows to look at
_ROWS_A_LAG = 8  # that there must be
_NEWS = 1e-3  # of an input's variance that its own past does not tell: less hides any delay
_EXPLAINS = 0.05  # of what past outputs leave: less says nothing of a delay


class DelayRange(NamedTuple):
    """Rows after which an output answers an input: the likeliest, the fewest and the most."""

    best: int
    low: int
    high: int


def delay_between(looked: Looked, number: int, output: int) -> DelayRange | None:
    """The delay from an input to an output; None where the input says too little of it."""
    from scipy.stats import chi2

    reach = min(REACH, looked.rows // _ROWS_A_LAG)
    lags = Lags.of(looked.records, output, past=_PAST, reach=reach)
    if lags.rows < _FEWEST or lags.news(number) < _NEWS:
        return None
    others = [i for i in range(looked.records[0].input_dim) if i != number]
    base = lags.outputs() + [column for i in others for column in lags.inputs(i, 0, _USUAL)]
    without = lags.error(base)
    errors = np.array(
        [lags.error(base + lags.inputs(number, d, reach + 1 - d)) for d in range(reach + 1)]
    )
    gain = lags.rows * np.log(without / errors[0])
    if 1.0 - errors[0] / without < _EXPLAINS or gain < chi2.ppf(_SAYS_MUCH, reach + 1):
        return None
    loss = lags.rows * np.log(errors / errors[0])
    left_out = np.arange(1, reach + 1)
    low, best, high = (
        _longest(loss[1:] <= limit)
        for limit in (
            chi2.ppf(_SAYS_NOTHING, left_out),
            left_out * np.log(lags.rows),
            chi2.ppf(_SAYS_MUCH, left_out),
        )
    )
    return DelayRange(min(max(best, low), max(low, high)), low, max(low, high))


def _longest(fits: np.ndarray) -> int:
    """How many of the first ones are all true."""
    wrong = np.flatnonzero(~fits)
    return int(wrong[0]) if len(wrong) else len(fits)


def delay(looked: Looked) -> Iterator[Note]:
    """Inputs that act some rows later."""
    first = looked.records[0]
    moving = [swings(column) >= FEWEST_SWINGS for column in looked.columns()]
    for output, output_name in enumerate(first.output_names):
        for number, name in enumerate(first.input_names):
            found = delay_between(looked, number, output) if moving[number] else None
            if found is None or found.low < _LEAST:
                continue
            rows = found.low - 1  # a model answers one row later by itself
            yield Note(
                "delay",
                name,
                f"output {output_name!r} answers input {name!r} after "
                f"{looked.spell(found.best)}, at least {found.low} and at most {found.high} rows",
                f"hand the input over later (delay={name}:{rows})",
                step=f"delay={name}:{rows}",
            )
