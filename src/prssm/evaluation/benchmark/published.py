"""The paper's result tables and other published rows, read from `published.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class PublishedRMSE:
    """A published RMSE: its mean, and its deviation over trained models where one was printed."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Setting:
    """One of the paper's four combinations of preprocessing and propagation.

    `rmse[data set][method]` is absent where the paper has no number.

    `options` are what a method of ours is told to run in this setting.
    """

    name: str
    title: str
    options: Mapping[str, Any]
    rmse: Mapping[str, Mapping[str, PublishedRMSE]]


@dataclass(frozen=True)
class Reference:
    """A row that is not in the paper but must stand beside it, with where it comes from."""

    label: str
    source: str
    rmse: Mapping[str, PublishedRMSE]
    log_likelihood_scaled: Mapping[str, float]


@dataclass(frozen=True)
class Published:
    """All published numbers.

    `main` is the setting of the paper's own table; `varied` are those of our methods that the paper
    ran in all four settings.
    """

    source: str
    where: str
    main: str
    varied: tuple[str, ...]
    labels: Mapping[str, str]
    settings: Mapping[str, Setting]
    references: tuple[Reference, ...]


@cache
def published() -> Published:
    """The published figures, parsed once."""
    text = (
        resources.files("prssm.evaluation.benchmark")
        .joinpath("published.toml")
        .read_text(encoding="utf-8")
    )
    document = tomllib.loads(text)
    settings = {
        entry["name"]: _setting(entry, document["methods"]) for entry in document["setting"]
    }
    return Published(
        document["source"],
        document["where"],
        document["main"],
        varied=tuple(document["varied"]),
        labels=document["labels"],
        settings=settings,
        references=tuple(_reference(entry) for entry in document["reference"]),
    )


def _setting(entry: dict[str, Any], methods: list[str]) -> Setting:
    rmse = {
        dataset: {
            method: PublishedRMSE(*cell) for method, cell in zip(methods, row, strict=True) if cell
        }
        for dataset, row in entry["rmse"].items()
    }
    return Setting(entry["name"], entry["title"], entry["options"], rmse=rmse)


def _reference(entry: dict[str, Any]) -> Reference:
    rmse = {dataset: PublishedRMSE(*cell) for dataset, cell in entry["rmse"].items()}
    return Reference(
        entry["label"],
        entry["source"],
        rmse,
        log_likelihood_scaled=entry.get("log_likelihood_scaled", {}),
    )
