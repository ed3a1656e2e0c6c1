"""From the word that a user wrote for data (a file, the name of a set, a stream) to Records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from prssm.data.clock.rules import TimeRules
from prssm.data.coerce import as_records
from prssm.data.io.columns import FileWords, named
from prssm.data.io.files import open_columns, read_records
from prssm.data.io.records import Choice
from prssm.data.preprocessing.spans import spans_of
from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.data.splits import Stretch, can_be_cut, ends, split
from prssm.data.stream.stream import Stream
from prssm.evaluation.tasks.settings import COLUMN_NAMES, ColumnSettings, DataSettings
from prssm.foundation.errors import DataError, OptionError, did_you_mean
from prssm.models.checks import records_in_file
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
        return _from_stream(settings.stream, settings.test, settings.time)
    train, test = training_and_test(settings)
    return Loaded(train, train, test)


def training_and_test(settings: DataSettings) -> tuple[list[Record], list[Record]]:
    """What trains and what is scored; the second is empty where the user kept nothing back."""
    words = FileWords(settings.decimal, settings.query)
    refuse_columns(settings.data, words)
    if any(is_set(word) for word in settings.data):
        return _from_catalogue(settings.data, settings)
    choice = choice_of(settings)
    records = [record for word in settings.data for record in read_records(word, choice, words)]
    if settings.test:
        same = replace(choice, inputs=records[0].input_names, outputs=records[0].output_names)
        return _rows_of(records, settings), read_records(settings.test, same, words)
    if settings.split is not None:
        return _cut(records, settings.split)
    return _rows_of(records, settings), _parts(records, settings.test_rows, "--test-rows")


def records_for_model(model: Estimator, word: str, columns: ColumnSettings) -> list[Record]:
    """The records that a saved model runs over.

    The test part of a set, or a file's columns under the names that the model was trained with (or
    those given).

    A file that holds none of the model's outputs is a simulation from inputs alone.
    """
    if is_set(word):
        return _from_catalogue([word], columns)[1]
    words = FileWords(columns.decimal, columns.query)
    return records_in_file(model, open_columns(word, words), choice_of(columns))


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


def refuse_columns(data: Sequence[str], how: FileWords) -> None:
    """Of `-u a b` the b is read as data: says so where it is a column of the first file."""
    if not data or not Path(data[0]).is_file():
        return
    unknown = [word for word in data[1:] if not Path(word).exists()]
    if not unknown:
        return
    file = open_columns(data[0], how)
    for word in unknown:
        column = named(word, file.names, file.where)
        if column is not None and word not in catalogue.names():
            raise OptionError(
                f"data: expected files or a data set, got {word!r}, which is a column of "
                f"{data[0]}; several columns are written -u a,b or -u a -u b"
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


def _from_stream(folder: str, test: str | None, time: str | None) -> Loaded:
    stream = Stream.open(folder)
    choice = Choice(stream.input_names, stream.output_names, time)
    scored = read_records(test, choice) if test else []
    return Loaded(stream, stream.sample(_SHOWN_ROWS, _SHOWN_SEED), scored)


def _from_catalogue(
    words: Sequence[str], settings: ColumnSettings
) -> tuple[list[Record], list[Record]]:
    if len(words) > 1:
        raise OptionError(
            f"data: expected one data set or one or more files, got {', '.join(words)}"
        )
    for name in (*COLUMN_NAMES, "split", "test", "rows", "test_rows"):
        if getattr(settings, name, None) is not None:
            word = f"--{name.replace('_', '-')}"
            raise OptionError(
                f"{word}: the set {words[0]!r} brings its own columns and split; leave {word} out"
            )
    train, test = catalogue.load(words[0])
    return as_records(train), as_records(test)


def _rows_of(records: list[Record], settings: DataSettings) -> list[Record]:
    """The rows that train: those that were named, else all that are not scored."""
    if settings.rows is not None:
        return _parts(records, settings.rows, "--rows")
    scored = _stretches(records, settings.test_rows, "--test-rows")
    shown = split(records, scored).shown
    if not shown:
        raise OptionError(f"--test-rows: {settings.test_rows} leaves no rows to train on")
    return shown


def _parts(records: list[Record], text: str | None, word: str) -> list[Record]:
    """Some rows of each record, as records; none where nothing was said."""
    return split(records, _stretches(records, text, word)).held_out


def _stretches(records: list[Record], text: str | None, word: str) -> list[Stretch]:
    if text is None:
        return []
    spans = spans_of(text)
    if not spans:
        raise OptionError(f"{word}: expected rows such as 100:900 or 10s:90s, got {text!r}")
    found = [Stretch(i, *span.rows(record)) for i, record in enumerate(records) for span in spans]
    found = [stretch for stretch in found if stretch.rows >= 2]
    if not found:
        most = max(map(len, records))
        raise OptionError(f"{word}: {text} holds fewer than 2 of the {most} rows")
    for one, other in pairwise(sorted(found)):
        if one.record == other.record and other.begin < one.end:
            raise OptionError(f"{word}: expected spans that do not overlap, got {text}")
    return found


def _cut(records: list[Record], fraction: float) -> tuple[list[Record], list[Record]]:
    """A record that is too short to be cut is shown whole."""
    stretches = [stretch for stretch in ends(records, fraction) if can_be_cut(stretch)]
    if not stretches:
        record = max(records, key=len)
        raise OptionError(
            f"--split: {fraction:g} of the {len(record)} rows of {record.name} leaves a part "
            "of fewer than 2"
        )
    return split(records, stretches)
