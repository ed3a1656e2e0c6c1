import numpy as np
import pytest

import prssm
from prssm.data.advice.values import oddities
from prssm.data.record import Record


def sound(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal(rows), np.sin(np.arange(rows) / 9.0) + 0.01 * rng.standard_normal(
        rows
    )


def test_sound_data_are_not_blamed() -> None:
    u, y = sound()
    assert oddities([Record(u, y)]) == []
    steps = np.repeat([0.0, 1.0], 200)  # an input that is held, and an output that settles
    assert oddities([Record(steps, 1.0 - np.exp(-np.arange(400) / 30.0))]) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda y: np.where(np.arange(400) % 40 == 7, -9999.0, y), "is -9999 in 10 rows"),
        (lambda y: np.where(np.arange(400) == 7, 1e4, y), "1 values far from the rest, up to 1e"),
        (lambda y: np.minimum(y, 0.5), "at its highest value 0.5"),
        (lambda y: np.maximum(y, -0.5), "at its lowest value -0.5"),
        (lambda y: np.where((np.arange(400) > 100) & (np.arange(400) < 180), y[100], y),
         "does not change for 79 rows from row 101"),
        (lambda y: np.round(y * 5) / 5, "levels only, 0.2 apart"),
        (lambda y: y + 3.0 * np.isin(np.arange(400), [60, 250]), "has 2 values more than 8 "
         "deviations from their neighbours, the first at row 60"),
    ],
)  # fmt: skip
def test_each_oddity_is_named_once_with_advice(spoil, words) -> None:
    u, y = sound()
    (line,) = oddities([Record(u, spoil(y), output_names=["flow"])])
    assert line.startswith("output 'flow' ")
    assert words in line
    assert "\n" not in line
    assert "cells" in line or "digits" in line or "preprocess 'outliers'" in line


def test_a_spike_of_an_input_may_be_what_drives_the_system() -> None:
    _, y = sound()
    u = np.sin(np.arange(400) / 7.0)
    u[200] += 9.0
    assert "outliers" in [note.what for note in prssm.advise(Record(u, y))]
    assert oddities([Record(u, y)]) == []


def test_a_fit_says_them() -> None:
    u, y = sound()
    y[5] = -9999.0
    with pytest.warns(prssm.PrssmWarning, match="output 'y' is -9999 in 1 rows"):
        prssm.Constant().fit(u, y)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(prssm.DataError, match="2 rows are too few to learn from"):
        prssm.LinearSSM().fit([1.0, 2.0], [1.0, 3.0])
