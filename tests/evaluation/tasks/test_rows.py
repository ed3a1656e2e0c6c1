"""Rows that train and rows that are scored, as one says them: `rows` and `test_rows`."""

from pathlib import Path

import numpy as np
import pytest

from prssm.data.io.files import write_columns
from prssm.data.record import Record
from prssm.evaluation.tasks import sources
from prssm.evaluation.tasks.settings import DataSettings
from prssm.evaluation.tasks.sources import load_data
from prssm.foundation.errors import OptionError

ROWS = 100


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log whose output is the number of its row, ten rows a second."""
    row = np.arange(ROWS, dtype=float)
    columns = {"time": 0.1 * row, "u": np.sin(row), "y": row}
    return str(write_columns(tmp_path / "log.csv", columns))


def parts(log: str, **said: str) -> tuple[list[list[int]], list[list[int]]]:
    """The row numbers of what trains and of what is scored."""
    loaded = load_data(DataSettings(data=(log,), **said))
    return tuple(
        [r.y[:, 0].astype(int).tolist() for r in part] for part in (loaded.train, loaded.test)
    )


def rows(*spans: tuple[int, int]) -> list[list[int]]:
    return [list(range(*span)) for span in spans]


def test_named_rows_train_and_others_are_scored(log: str) -> None:
    assert parts(log, rows="0:30,50:70", test_rows="80:100") == (
        rows((0, 30), (50, 70)),
        rows((80, 100)),
    )


def test_without_rows_all_that_is_not_scored_trains(log: str) -> None:
    assert parts(log, test_rows="40:60") == (rows((0, 40), (60, 100)), rows((40, 60)))


def test_without_test_rows_nothing_is_scored(log: str) -> None:
    assert parts(log, rows="90:") == (rows((90, 100)), [])


def test_seconds_are_understood_too(log: str) -> None:
    assert parts(log, rows=":5s", test_rows="5s:") == (rows((0, 50)), rows((50, 100)))


def test_rows_can_be_scored_on_another_file(log: str) -> None:
    train, test = parts(log, rows="0:10", test=log)
    assert (train, test) == (rows((0, 10)), rows((0, 100)))


@pytest.mark.parametrize(
    "said",
    [
        {"rows": "all"},
        {"rows": "5:5"},
        {"rows": "200:300"},
        {"rows": "0:30,20:40"},
        {"test_rows": "0:100"},
        {"test_rows": "99:"},
    ],
)
def test_what_cannot_be_is_one_line(log: str, said: dict[str, str]) -> None:
    with pytest.raises(OptionError, match="rows: "):
        parts(log, **said)


@pytest.mark.parametrize(
    "said",
    [
        {"rows": "0:9", "split": 0.7},
        {"test_rows": "0:9", "split": 0.7},
        {"test_rows": "0:9", "test": "log.csv"},
    ],
)
def test_two_ways_to_say_it_are_one_too_many(said: dict) -> None:
    with pytest.raises(OptionError, match="not both"):
        DataSettings(data=("log.csv",), **said)


def test_a_split_shows_whole_what_is_too_short_to_be_cut() -> None:
    long = Record(np.arange(10.0), np.zeros(10), name="long")
    stub = Record(np.arange(3.0), np.zeros(3), name="stub")
    shown, scored = sources._cut([long, stub], 0.8)
    assert [(part.name, len(part)) for part in shown] == [("long", 8), ("stub", 3)]
    assert [(part.name, len(part)) for part in scored] == [("long", 2)]
    with pytest.raises(OptionError, match=r"--split: 0\.8 of the 3 rows of stub leaves a part"):
        sources._cut([stub], 0.8)
