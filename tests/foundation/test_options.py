"""Options: types, ranges, suggestions, and values that come as text."""

from dataclasses import dataclass

import pytest

from prssm.foundation.errors import OptionError
from prssm.foundation.options import Options, option


@dataclass(frozen=True)
class Sample(Options):
    count: int = option(3, "how many", minimum=1)
    rate: float = option(0.5, "how fast", above=0)
    shape: str = option("round", "which", choices=("round", "square"))
    order: int | None = option(None, "automatic if None")
    flag: bool = option(True, "yes or no")


def test_defaults_hash_and_compare():
    assert Sample() == Sample(3)
    assert len({Sample(), Sample(count=3), Sample(count=4)}) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "option count: expected at least 1, got 0"),
        ({"count": 2.5}, "option count: expected a whole number, got 2.5"),
        ({"count": True}, "option count: expected a whole number, got True"),
        ({"rate": 0}, "option rate: expected more than 0, got 0"),
        ({"rate": float("nan")}, "option rate: expected a finite number"),
        ({"rate": "fast"}, "option rate: expected a number, got 'fast'"),
        ({"shape": "squre"}, "Did you mean 'square'"),
        ({"coutn": 3}, "unknown option 'coutn'. Did you mean 'count'"),
    ],
)
def test_wrong_values_are_named(changes, message):
    with pytest.raises(OptionError, match=message.replace("?", r"\?").replace("(", r"\(")):
        Sample().replace(**changes)


def test_text_is_read_by_the_declared_type():
    assert Sample.parse(
        {"count": "4", "rate": "1e-3", "order": "none", "flag": "no", "shape": "square"}
    ) == {"count": 4, "rate": 1e-3, "order": None, "flag": False, "shape": "square"}
    with pytest.raises(OptionError, match="option count: expected a whole number, got 'four'"):
        Sample.parse({"count": "four"})


def test_a_whole_number_serves_as_a_float():
    assert isinstance(Sample(rate=2).rate, float)
