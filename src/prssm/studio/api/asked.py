"""What the page asks to compare, checked: models, rows of a log, how far ahead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from prssm.foundation.errors import OptionError, PrssmError
from prssm.studio.project.runs import Stretch

MOST_MODELS = 8
T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """Models by id, the rows that they run over, and rows ahead (None: a free run)."""

    models: tuple[str, ...]
    stretch: Stretch
    horizon: int | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Asked":
        models = models_of(document)
        horizon = document.get("horizon")
        if horizon is not None:
            horizon = whole(document, "horizon", least=1)
        return cls(models, stretch_of(document), horizon)


def models_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The chosen models."""
    models = document.get("models")
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        raise OptionError("choose one or more models")
    if not 0 < len(models) <= MOST_MODELS:
        raise OptionError(f"choose from 1 to {MOST_MODELS} models, got {len(models)}")
    return tuple(dict.fromkeys(models))


def stretch_of(document: Mapping[str, Any]) -> Stretch:
    """The rows of a log."""
    log = str(document.get("log"))
    begin = whole(document, "begin") if document.get("begin") is not None else 0
    end = whole(document, "end") if document.get("end") is not None else None
    if end is not None and end <= begin:
        raise OptionError(f"rows: expected a first row and a later one, got {begin} and {end}")
    return Stretch(log, begin, end)


def whole(document: Mapping[str, Any], name: str, least: int = 0) -> int:
    """A whole number of a document."""
    value = document.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name}: expected a whole number of at least {least}, got {value!r}")
    return value


def for_each(
    models: tuple[str, ...], work: Callable[[str], T]
) -> tuple[dict[str, T], list[dict[str, str]]]:
    """What each model gives, and one line for each that cannot: others go on."""
    found = {}
    failed = []
    for model in models:
        try:
            found[model] = work(model)
        except PrssmError as error:
            failed.append({"kind": "bad", "text": f"{model}: {error}"})
    return found, failed
