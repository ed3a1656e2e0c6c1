"""What a search goes over: for each option a list of values or a range, as a user writes them.

latent_dim=2,4,6               these values
seed=0..4                      whole numbers 0 to 4
horizon=50..200:50             steps of 50
learning_rate=0.005..0.1:log   any number, drawn on a logarithmic scale (with --trials only)
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prssm.evaluation.benchmark.plan import assignment
from prssm.foundation.errors import OptionError, did_you_mean
from prssm.models.registry import METHODS, method

Value = Any  # a number, a word, true, false or None
STRUCTURE = ("method", "preset")  # not options of a method, yet a search may go over them
MOST_COMBINATIONS = 100_000


@dataclass(frozen=True)
class Choices:
    """One of some values."""

    name: str
    values: tuple[Value, ...]

    def holds(self, value: Value) -> bool:
        return any(value == mine and type(value) is type(mine) for mine in self.values)


@dataclass(frozen=True)
class Range:
    """A number from `low` to `high`, both included.

    Only whole numbers where `step` is one, and any number where there is no step.
    """

    name: str
    low: float
    high: float
    step: float | None = None
    log: bool = False

    @property
    def whole(self) -> bool:
        return all(isinstance(number, int) for number in (self.low, self.high, self.step or 1))

    @property
    def values(self) -> tuple[Value, ...]:
        """All of them, for a sweep."""
        step = self.step or (1 if self.whole and not self.log else None)
        if step is None:
            raise OptionError(
                f"--over {self.name}: a sweep over all combinations needs single values: name them "
                f"({self.name}={self.low},{self.high}) or say --trials N to search the range"
            )
        count = math.floor((self.high - self.low) / step * (1 + 1e-12)) + 1
        if count > MOST_COMBINATIONS:
            raise OptionError(
                f"--over {self.name}: expected at most {MOST_COMBINATIONS} values, got {count}"
            )
        return tuple(
            self.low + i * step if self.whole else float(f"{self.low + i * step:.12g}")
            for i in range(count)
        )

    def holds(self, value: Value) -> bool:
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not self.low <= value <= self.high
        ):
            return False
        steps = (value - self.low) / (self.step or (1 if self.whole else math.inf))
        return math.isclose(steps, round(steps), abs_tol=1e-9)


Dimension = Choices | Range
Space = tuple[Dimension, ...]


def space_of(over: Mapping[str, Any] | Sequence[str], default_method: str) -> Space:
    """The dimensions of a search, from texts 'name=values' or a mapping; method and preset first.

    An option must belong to at least one of the methods that are searched; values get the option's
    type.
    """
    pairs = (
        list(over.items())
        if isinstance(over, Mapping)
        else [assignment(text, "--over") for text in over]
    )
    given = {name.replace("-", "_"): value for name, value in pairs}
    if len(given) < len(pairs):
        raise OptionError(f"--over: each option once, got {', '.join(name for name, _ in pairs)}")
    if not given:
        raise OptionError(
            "--over: expected at least one option, e.g. --over latent_dim=2,4,6 seed=0..4"
        )
    structure = {name: _words(name, given.pop(name)) for name in STRUCTURE if name in given}
    methods = structure["method"].values if "method" in structure else (default_method,)
    kinds = [method(name) for name in methods]
    return (*structure.values(), *(_dimension(name, value, kinds) for name, value in given.items()))


def grid(space: Space) -> list[dict[str, Value]]:
    """All combinations, the seed as the slowest, so that an early look shows everything once."""
    ordered = sorted(space, key=lambda dimension: dimension.name != "seed")
    lists = [dimension.values for dimension in ordered]
    if math.prod(len(values) for values in lists) > MOST_COMBINATIONS:
        raise OptionError(
            f"--over: {math.prod(len(values) for values in lists)} combinations are too many for a "
            "sweep; "
            f"say --trials N to search among them"
        )
    names = [dimension.name for dimension in space]
    found = [
        dict(zip((d.name for d in ordered), values, strict=True))
        for values in itertools.product(*lists)
    ]
    return [{name: values[name] for name in names} for values in found]


def methods_of(space: Space, default_method: str) -> tuple[str, ...]:
    return next(
        (dimension.values for dimension in space if dimension.name == "method"), (default_method,)
    )


def options_of(space: Space, default_method: str) -> list[str]:
    """The options that at least one of the searched methods has."""
    kinds = [method(name) for name in methods_of(space, default_method)]
    return list(dict.fromkeys(known for kind in kinds for known in kind.Config.names()))


def _words(name: str, value: Any) -> Choices:
    words = (
        tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else tuple(value)
    )
    for word in words:
        if name == "method" and word not in METHODS:
            raise OptionError(
                f"--over method: unknown method {word!r}.{did_you_mean(str(word), METHODS)}"
            )
    return Choices(name, tuple(dict.fromkeys(words)))


def _dimension(name: str, value: Any, kinds: Sequence[Any]) -> Dimension:
    owner = next((kind for kind in kinds if name in kind.Config.names()), None)
    if owner is None:
        known = list(
            dict.fromkeys([*STRUCTURE, *(known for kind in kinds for known in kind.Config.names())])
        )
        raise OptionError(
            f"--over {name}: no searched method has an option {name!r}.{did_you_mean(name, known)}"
        )
    if isinstance(value, str) and ".." in value:
        dimension: Dimension = _range(name, value)
    else:
        parts = (
            [part.strip() for part in value.split(",")]
            if isinstance(value, str)
            else _listed(name, value)
        )
        dimension = Choices(
            name, tuple(dict.fromkeys(owner.Config.parse({name: part})[name] for part in parts))
        )
    for end in (
        (dimension.low, dimension.high) if isinstance(dimension, Range) else dimension.values
    ):
        owner(**{name: end})  # a value out of range is said now, not after hours of other trials
    return dimension


def _listed(name: str, value: Any) -> list[Any]:
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values or not all(
        isinstance(item, str | int | float | bool) or item is None for item in values
    ):
        raise OptionError(f"--over {name}: expected a list of numbers or words, got {value!r}")
    return values


def _range(name: str, text: str) -> Range:
    ends, *marks = (part.strip() for part in text.split(":"))
    try:
        low, high = (_number(end) for end in ends.split(".."))
        steps = [_number(mark) for mark in marks if mark != "log"]
    except ValueError:
        raise OptionError(
            f"--over {name}: expected values a,b,c or a range low..high, low..high:step or "
            "low..high:log, "
            f"got {text!r}"
        ) from None
    log = "log" in marks
    step = steps[0] if steps else None
    if not low < high or len(marks) > 1 or (step is not None and step <= 0) or (log and low <= 0):
        raise OptionError(
            f"--over {name}: expected low < high, then at most a step above 0, or log where low is "
            "above 0, "
            f"got {text!r}"
        )
    return Range(
        name,
        low,
        high if step is None else Range(name, low, high, step=step).values[-1],
        step=step,
        log=log,
    )


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not math.isfinite(number):
            raise
        return number
