"""What a user said on the command line and in a TOML file, put together. The command line wins.

A file looks like this; every key of the top level is the word of a command-line option, [options]
belongs to the method:

    data = "log.csv"
    inputs = ["valve"]
    outputs = ["pressure"]
    split = 0.7

    [options]
    latent_dim = 4
"""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from prssm.foundation.errors import OptionError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Words:
    """Base of the words of a command.

    Every field is None until someone says something, so that a file can fill what the command line
    left open.
    """

    config: str | None = None


W = TypeVar("W", bound=Words, covariant=True)
Spoken = TypeVar("Spoken", bound=Words)


@dataclass(frozen=True)
class Said(Generic[W]):
    """Everything that was said: data, words and options of the method.

    The words of the file are filled in.
    """

    data: tuple[str, ...]
    words: W
    options: Mapping[str, Any]

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the named words that were said.

        For the others a settings object has its defaults.
        """
        values = {name: getattr(self.words, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def merge(data: Sequence[str], words: Spoken, options: Mapping[str, str]) -> Said[Spoken]:
    """Fill what the command line left open from the file that it names with --config."""
    found = _FileContent() if words.config is None else _read(Path(words.config), type(words))
    from_file = dict(found.words)
    on_line = {name: value for name, value in vars(words).items() if value is not None}
    if {"test", "split"} & on_line.keys():  # one replaces the other across command line and file
        from_file = {k: value for k, value in from_file.items() if k not in ("test", "split")}
    spoken = {name.replace("-", "_"): text for name, text in options.items()}
    return Said(
        tuple(data) or found.data,
        dataclasses.replace(words, **(from_file | on_line)),
        {**found.options, **spoken},
    )


def word_names(kind: type[Words]) -> tuple[str, ...]:
    """The words of a command, as they are written in a file."""
    return tuple(field.name for field in dataclasses.fields(kind))


def listed(value: Any) -> str:
    """A value, or several, as one would write them on the command line."""
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)


@dataclass(frozen=True)
class _FileContent:
    data: tuple[str, ...] = ()
    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def _read(path: Path, kind: type[Words]) -> _FileContent:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OptionError(f"--config: {path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"--config: {path}: not a TOML file: {error}") from None
    options = document.pop("options", {})
    if not isinstance(options, dict):
        raise OptionError(f"--config: {path}: options: expected a table [options], got {options!r}")
    hints = {"data": list[str], **typing.get_type_hints(kind)}
    hints.pop("config")
    values = {key.replace("-", "_"): value for key, value in document.items()}
    checked = {key: _checked(key, value, path, hints=hints) for key, value in values.items()}
    return _FileContent(
        tuple(checked.pop("data", ())),
        checked,
        {key.replace("-", "_"): value for key, value in options.items()},
    )


def _checked(key: str, value: Any, path: Path, hints: Mapping[str, Any]) -> Any:
    """A value of the type that the word has.

    `over` is a table in a file, and `devices` may be a number.
    """
    if key not in hints:
        raise OptionError(
            f"--config: {path}: unknown key {key!r}.{did_you_mean(key, [*hints, 'options'])}"
            " (options of the method go into a table [options])"
        )
    if key == "over":
        fits = isinstance(value, dict)
        wanted = f"a table [{key}]"
    elif key == "devices":
        fits = isinstance(value, int | str) and not isinstance(value, bool)
        wanted = "a whole number or 'auto'"
    else:
        fits, wanted = _fits(value, _bare(hints[key]))
    if not fits:
        raise OptionError(f"--config: {path}: {key}: expected {wanted}, got {value!r}")
    if key == "over":
        return [f"{name}={listed(item)}" for name, item in value.items()]
    if key == "devices":
        return str(value)
    return [value] if _bare(hints[key]) == list[str] and isinstance(value, str) else value


def _bare(hint: Any) -> Any:
    """The type behind `type | None`."""
    if isinstance(hint, types.UnionType):
        (hint,) = (kind for kind in typing.get_args(hint) if kind is not type(None))
    return hint


def _fits(value: Any, kind: Any) -> tuple[bool, str]:
    """Whether the value is of this kind, and what the kind is called."""
    if kind == list[str]:
        several = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return isinstance(value, str) or several, "a text or a list of texts"
    if kind is bool:
        return isinstance(value, bool), "true or false"
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool), "a number"
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool), "a whole number"
    return isinstance(value, str), "a text"
