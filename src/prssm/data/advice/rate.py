"""Is a recording sampled too fast, or too slowly, for what moves in it?"""

from collections.abc import Iterator

import numpy as np

from prssm.data.advice.looked import Looked
from prssm.data.advice.note import Note
from prssm.data.advice.regression import Lags

_FAST = 80  # rows to a period of the fastest motion: more are too many
_WANTED = 20  # rows to that period that are enough
_POWER = 0.995  # of an output's variance that counts as motion
_FEWEST = 1000  # rows that must be there to give some away
_ROUGH = 0.5  # of the variance above half of the fastest frequency: more is fast motion, or noise
_FOLLOWS = 0.9  # of it that inputs of the same and the last row explain: then it is motion


def fast(looked: Looked) -> Iterator[Note]:
    """Outputs that hardly move from row to row."""
    number, record = looked.longest
    if len(record) < _FEWEST:
        return
    periods = [_shortest_period(record.y[:, i]) for i in range(record.output_dim)]
    shortest = min(periods, default=0.0)
    if shortest < _FAST:
        return
    name = record.output_names[int(np.argmin(periods))]
    factor = max(2, int(shortest // _WANTED))
    step = f"decimate={factor}" if looked.dt is None else f"resample={factor * looked.dt:.4g}"
    yield Note(
        "sampled too fast",
        name,
        f"output {name!r} has nearly all of its power at periods of more than "
        f"{looked.spell(shortest)}",
        f"some {_WANTED} rows to a period are enough ({step})",
        step=step,
        record=number,
    )


def slow(looked: Looked) -> Iterator[Note]:
    """Outputs that are over with an input's move within one row."""
    for i, name in enumerate(looked.records[0].output_names):
        lags = Lags.of(looked.records, i, past=4, reach=8)
        inputs = range(looked.records[0].input_dim)
        if lags.rows < 100 or not len(inputs):
            continue
        now = [0, *(column for k in inputs for column in lags.inputs(k, 0, 2))]
        whole = lags.outputs() + [column for k in inputs for column in lags.inputs(k, 0, 9)]
        total = lags.power / lags.rows
        explained = 1.0 - lags.error(whole) / total
        at_once = 1.0 - lags.error(now) / total
        if explained < _ROUGH or at_once < _FOLLOWS * explained or _smooth_inputs(looked):
            continue
        yield Note(
            "sampled too slowly",
            name,
            f"output {name!r} follows its inputs within one row: they and the row before explain "
            f"{at_once:.0%} of it, the past {explained:.0%}",
            "sample faster if how it gets there matters",
        )


def _smooth_inputs(looked: Looked) -> bool:
    """Whether all inputs move so little from row to row that any output seems to follow them."""
    roughness = [
        float(np.mean(np.diff(part) ** 2) / max(2.0 * part.var(), 1e-300))
        for column in looked.columns()
        if column.word == "input"
        for part in column.parts
    ]
    return max(roughness, default=0.0) < 0.1


def _shortest_period(values: np.ndarray) -> float:
    """Rows to the period below which only little of the power is, noise of the sensor apart."""
    known = np.isfinite(values)
    if known.sum() < _FEWEST:
        return 0.0
    filled = np.interp(np.arange(len(values)), np.flatnonzero(known), values[known])
    line = np.linspace(filled[0], filled[-1], len(filled))  # so that the ends meet
    power = np.abs(np.fft.rfft((filled - line) * np.hanning(len(filled)))) ** 2
    power[0] = 0.0
    floor = np.median(power[len(power) // 2 :]) / np.log(2.0)
    above = np.maximum(power - floor, 0.0)
    share = np.cumsum(above) / max(above.sum(), 1e-300)
    return len(values) / max(int(np.searchsorted(share, _POWER)), 1)
