"""From the word that a user wrote for data (a file, the name of a set, a stream) to Records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prssm.data.clock.rules import TimeRules
from prssm.data.coerce import as_records
from prssm.data.io.columns import FileWords
from prssm.data.io.files import open_columns, read, read_records, records_in
from prssm.data.io.records import Choice
from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.data.splits import can_be_cut, ends, split
from prssm.data.stream.stream import Stream
from prssm.evaluation.tasks.settings import COLUMN_NAMES, ColumnSettings, DataSettings
from prssm.foundation.errors import DataError, OptionError, did_you_mean
from prssm.models.estimator import Estimator

# of a stream, for the comparison after training
_SHOWN_ROWS = 20_000
_SHOWN_SEED = 0


@dataclass(frozen=True, eq=False)
class Loaded:
    """What trains, those of its records that are shown afterwards, and what is scored.

    `test` is empty where the user kept nothing back.
    """

    source: list[Record] | Stream
    train: list[Record]
    test: list[Record]


def load_data(settings: DataSettings) -> Loaded:
    """All data that the settings name."""
    if settings.stream:
        return _from_stream(settings.stream, settings.test)
    train, test = training_and_test(settings)
    return Loaded(train, train, test)


def training_and_test(settings: DataSettings) -> tuple[list[Record], list[Record]]:
    """What trains and what is scored; the second is empty where the user kept nothing back."""
    if any(is_set(word) for word in settings.data):
        return _from_catalogue(settings.data, settings)
    choice = choice_of(settings)
    words = FileWords(settings.decimal, settings.query)
    records = [record for word in settings.data for record in read_records(word, choice, words)]
    if settings.test:
        same = replace(choice, inputs=records[0].input_names, outputs=records[0].output_names)
        return records, read_records(settings.test, same, words)
    if settings.split is not None:
        return _cut(records, settings.split)
    return records, []


def records_for_model(model: Estimator, word: str, columns: ColumnSettings) -> list[Record]:
    """The records that a saved model runs over.

    The test part of a set, or a file's columns under the names that the model was trained with (or
    those given).

    A file that holds none of the model's outputs is a simulation from inputs alone.
    """
    if is_set(word):
        return _from_catalogue([word], columns)[1]
    words = FileWords(columns.decimal, columns.query)
    found = open_columns(word, words)
    known = found.names
    outputs: Sequence[str] = columns.outputs or model.output_names_
    if not columns.outputs and not set(known).intersection(outputs):
        outputs = ()
    choice = replace(
        choice_of(columns), inputs=columns.inputs or model.input_names_, outputs=outputs
    )
    time = model.domain_.time
    if choice.time is None and choice.dt is None and time in known:
        choice = replace(choice, time=time)
    return records_in(found, choice)


def choice_of(columns: ColumnSettings) -> Choice:
    """The settings as `prssm.data.io` takes them."""
    rules: dict[str, Any] = {
        "gaps": columns.gaps,
        "sort": columns.sort,
        "duplicates": columns.duplicates,
        "resample": columns.resample,
        "unit": columns.time_unit,
    }
    told = {name: value for name, value in rules.items() if value is not None}
    return Choice(
        columns.inputs, columns.outputs, columns.time, dt=columns.dt, rules=TimeRules(**told)
    )


def is_set(word: str) -> bool:
    """Whether the word names a set of the catalogue; a file's name has an ending."""
    if Path(word).suffix:
        return False
    if word in catalogue.names():
        return True
    if Path(word).exists():
        return False  # reading it will say what is wrong
    raise DataError(
        f"no file and no data set is called {word!r}.{did_you_mean(word, catalogue.names())}"
    )


def _from_stream(folder: str, test: str | None) -> Loaded:
    stream = Stream.open(folder)
    scored = [read(test, inputs=stream.input_names, outputs=stream.output_names)] if test else []
    return Loaded(stream, stream.sample(_SHOWN_ROWS, _SHOWN_SEED), scored)


def _from_catalogue(
    words: Sequence[str], settings: ColumnSettings
) -> tuple[list[Record], list[Record]]:
    if len(words) > 1:
        raise OptionError(
            f"data: expected one data set or one or more files, got {', '.join(words)}"
        )
    for name in (*COLUMN_NAMES, "split", "test"):
        if getattr(settings, name, None) is not None:
            word = f"--{name.replace('_', '-')}"
            raise OptionError(
                f"{word}: the set {words[0]!r} brings its own columns and split; leave {word} out"
            )
    train, test = catalogue.load(words[0])
    return as_records(train), as_records(test)


def _cut(records: list[Record], fraction: float) -> tuple[list[Record], list[Record]]:
    stretches = ends(records, fraction)
    for record, stretch in zip(records, stretches, strict=True):
        if not can_be_cut(stretch):
            raise OptionError(
                f"--split: {fraction:g} of the {len(record)} rows of {record.name} leaves a part "
                "of fewer than 2"
            )
    return split(records, stretches)
