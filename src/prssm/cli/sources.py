"""From the word that a user wrote for data (a file, or the name of a set) to Records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prssm.cli.settings import split_names
from prssm.foundation.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from prssm.data.record import Record
    from prssm.models.estimator import Estimator


def is_set(word: str) -> bool:
    """Whether the word names a set of the catalogue; a file's name has an ending."""
    if Path(word).suffix:
        return False
    from prssm.data.sets import catalogue

    if word in catalogue.names():
        return True
    if Path(word).exists():
        return False  # reading it will say what is wrong
    raise DataError(
        f"no file and no data set is called {word!r}.{did_you_mean(word, catalogue.names())}"
    )


def training_and_test(settings: dict[str, Any]) -> tuple[list[Record], list[Record]]:
    """What trains and what is scored; the second is empty where the user kept nothing back."""
    words = settings["data"]
    if any(is_set(word) for word in words):
        return _from_catalogue(words, settings)
    columns = {name: settings[name] for name in ("inputs", "outputs", "time", "dt")}
    records = [_read(word, **columns) for word in words]
    if settings["test"]:
        columns |= {
            "inputs": list(records[0].input_names),
            "outputs": list(records[0].output_names),
        }
        return records, [_read(settings["test"], **columns)]
    if settings["split"] is not None:
        return _cut(records, settings["split"])
    return records, []


def _read(word: str, **columns: Any) -> Record:
    from prssm.data.io.files import read

    return read(word, **columns)


def _from_catalogue(
    words: Sequence[str], settings: dict[str, Any]
) -> tuple[list[Record], list[Record]]:
    from prssm.data.coerce import as_records
    from prssm.data.sets import catalogue

    if len(words) > 1:
        raise OptionError(
            f"data: expected one data set or one or more files, got {', '.join(words)}"
        )
    for name in ("inputs", "outputs", "time", "dt", "split", "test"):
        if settings.get(name) is not None:
            raise OptionError(
                f"--{name}: the set {words[0]!r} brings its own columns and split; leave --{name} "
                "out"
            )
    train, test = catalogue.load(words[0])
    return as_records(train), as_records(test)


def _cut(records: list[Record], fraction: float) -> tuple[list[Record], list[Record]]:
    from prssm.data.splits import can_be_cut, ends, split

    stretches = ends(records, fraction)
    for record, stretch in zip(records, stretches, strict=True):
        if not can_be_cut(stretch):
            raise OptionError(
                f"--split: {fraction:g} of the {len(record)} rows of {record.name} leaves a part "
                "of fewer than 2"
            )
    return split(records, stretches)


def records_for_model(
    model: Estimator,
    word: str,
    *,
    inputs: list[str] | None,
    outputs: list[str] | None,
    time: str | None,
    dt: float | None,
) -> list[Record]:
    """The test part of a set, or a file's columns under the names that the model was trained with
    (or those given).
    """
    if is_set(word):
        return _from_catalogue(
            [word], {"inputs": inputs, "outputs": outputs, "time": time, "dt": dt}
        )[1]
    wanted_inputs = split_names(inputs) or list(model.input_names_)
    wanted_outputs = split_names(outputs) or _present(word, model.output_names_)
    return [_read(word, inputs=wanted_inputs, outputs=wanted_outputs, time=time, dt=dt)]


def _present(word: str, names: Sequence[str]) -> list[str]:
    """The model's outputs, or none where the file holds none of them: then it is a simulation from
    inputs alone.
    """
    from prssm.data.io.files import READERS

    reader = READERS.get(Path(word).suffix.lower())
    if reader is None or not Path(word).is_file():
        return list(names)  # reading the file will say what is wrong with it
    return list(names) if set(reader(Path(word)).names).intersection(names) else []


def check_samples(samples: int | None) -> None:
    """A number of trajectories from which a spread can be computed."""
    if samples is not None and samples < 2:
        raise OptionError(f"--samples: expected at least 2, got {samples}")
