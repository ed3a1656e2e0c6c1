"""Options of a method: a frozen dataclass whose fields carry their meaning, range and choices.

One declaration serves the Python signature, the command line, the TOML file, the saved model and
the documentation.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from prssm.foundation.errors import OptionError, did_you_mean


def option(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A dataclass field that knows its help text and which values it takes."""
    metadata = {"help": help, "minimum": minimum, "above": above, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Options:
    """Base of every method's configuration: checked when built, immutable, hashable, comparable."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = _checked(field, hints[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in dataclasses.fields(cls))

    def replace(self, **changes: Any) -> Self:
        """A copy with some options changed; an unknown name gets a suggestion."""
        for name in changes:
            if name not in self.names():
                raise OptionError(f"unknown option {name!r}.{did_you_mean(name, self.names())}")
        return dataclasses.replace(self, **changes)

    @classmethod
    def parse(cls, texts: Mapping[str, Any]) -> dict[str, Any]:
        """Typed values from command-line texts or TOML values, by the fields' declared types."""
        hints = typing.get_type_hints(cls)
        parsed = {}
        for given, text in texts.items():
            name = given.replace("-", "_")
            if name not in hints:
                raise OptionError(f"unknown option {given!r}.{did_you_mean(name, cls.names())}")
            parsed[name] = _from_text(name, hints[name], text) if isinstance(text, str) else text
        return parsed

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON.

        A callable is written as its qualified name, for a reader, not for loading.
        """
        plain = {}
        for name in self.names():
            value = getattr(self, name)
            plain[name] = (
                f"<{getattr(value, '__qualname__', type(value).__name__)}>"
                if callable(value)
                else value
            )
        return plain


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _matches(kind: Any, value: Any) -> bool:
    if kind is type(None):
        return value is None
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        )
    if kind is Callable or typing.get_origin(kind) is Callable or kind is typing.Callable:
        return callable(value)
    return isinstance(value, kind)


_CONVERT: dict[Any, Callable[[Any], Any]] = {int: int, float: float, bool: bool}
_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a word",
    type(None): "nothing",
}


def _describe(kinds: tuple[Any, ...]) -> str:
    return " or ".join(_WORDS.get(kind, "a callable") for kind in kinds if kind is not type(None))


def _checked(field: dataclasses.Field[Any], hint: Any, value: Any) -> Any:
    kinds = _alternatives(hint)
    for kind in kinds:
        if _matches(kind, value):
            value = _CONVERT.get(kind, lambda same: same)(value)
            break
    else:
        raise OptionError(f"option {field.name}: expected {_describe(kinds)}, got {value!r}")
    _check_range(field, value)
    return value


def _check_range(field: dataclasses.Field[Any], value: Any) -> None:
    minimum, above, choices = (field.metadata.get(key) for key in ("minimum", "above", "choices"))
    if isinstance(value, float) and not np.isfinite(value):
        raise OptionError(f"option {field.name}: expected a finite number, got {value}")
    if isinstance(value, int | float) and minimum is not None and value < minimum:
        raise OptionError(f"option {field.name}: expected at least {minimum}, got {value}")
    if isinstance(value, int | float) and above is not None and value <= above:
        raise OptionError(f"option {field.name}: expected more than {above}, got {value}")
    if isinstance(value, str) and choices and value not in choices:
        raise OptionError(
            f"option {field.name}: {value!r} is not one of "
            f"{', '.join(choices)}.{_suggest(value, choices)}"
        )


def _suggest(value: str, choices: tuple[str, ...]) -> str:
    text = did_you_mean(value, choices)
    return text if "Did you mean" in text else ""


def _from_text(name: str, hint: Any, text: str) -> Any:
    kinds = _alternatives(hint)
    if type(None) in kinds and text.lower() in ("none", ""):
        return None
    if bool in kinds and text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds:
        return text
    raise OptionError(f"option {name}: expected {_describe(kinds)}, got {text!r}")
