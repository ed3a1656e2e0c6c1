"""From the word that a user wrote for data to Records: what is refused, and how it is told."""

import numpy as np
import pytest

from prssm.evaluation.tasks.settings import DataSettings
from prssm.evaluation.tasks.sources import training_and_test
from prssm.foundation.errors import DataError, OptionError

ROWS = 20


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "log.csv"
    np.savetxt(
        path,
        rng.normal(size=(ROWS, 3)),
        delimiter=",",
        header="valve [%],heat,flow",
        comments="",
    )
    return str(path)


@pytest.mark.parametrize("second", ["heat", "valve [%]", "valve"])
def test_a_column_among_the_files_says_how_several_are_written(log, second):
    settings = DataSettings(data=(log, second), inputs=("flow",), outputs=("heat",))
    with pytest.raises(OptionError, match=r"which is a column of .*; .* -u a,b or -u a -u b"):
        training_and_test(settings)


def test_a_word_that_is_nothing_is_told_as_before(log):
    settings = DataSettings(data=(log, "presure"), inputs=("heat",), outputs=("flow",))
    with pytest.raises(DataError, match="no file and no data set is called 'presure'"):
        training_and_test(settings)


def test_files_are_read_one_after_the_other(log):
    train, _ = training_and_test(DataSettings(data=(log, log), inputs=("heat",), outputs=("flow",)))
    assert [len(record) for record in train] == [ROWS, ROWS]
