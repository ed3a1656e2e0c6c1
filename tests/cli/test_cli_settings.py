"""Options from a TOML file: every key can be written there, the command line wins, a misspelt key
is caught.
"""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.cli.merging import merge
from prssm.cli.settings import FitWords, fit_settings
from prssm.data.io.columns import TextColumns
from prssm.data.io.records import chosen_names
from prssm.evaluation.tasks.settings import DataSettings, FitSettings
from prssm.foundation.errors import OptionError


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "fit.toml"
    path.write_text(text)
    return str(path)


def settings_of(words: FitWords, *data: str, **options: str) -> FitSettings:
    return fit_settings(merge(data, words, options))


def test_defaults_fill_what_nobody_said() -> None:
    assert settings_of(FitWords(), "log.csv") == FitSettings(data=DataSettings(data=("log.csv",)))


def test_file_fills_and_command_line_wins(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'data = "log.csv"\ninputs = ["a,b", "c"]\nmethod = "linear"\nresume = true\ndt = 2\n'
        'split = 0.5\nout = "new/m.prssm"\n'
        "[options]\nlatent_dim = 3\nlearning-rate = 0.1\n",
    )
    found = settings_of(FitWords(config=path, method="prssm"), **{"latent-dim": "5"})
    assert found.data == DataSettings(data=("log.csv",), inputs=("a,b", "c"), dt=2, split=0.5)
    assert (found.method, found.resume, found.out) == ("prssm", True, Path("new/m.prssm"))
    assert found.checkpoint_file == Path("new/m.prssm.checkpoint")
    assert found.options == {"latent_dim": "5", "learning_rate": 0.1}


def test_split_on_the_command_line_replaces_test_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'data = "log.csv"\ntest = "other.csv"\n')
    data = settings_of(FitWords(config=path, split=0.7)).data
    assert (data.split, data.test) == (0.7, None)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('inptus = "u"', "unknown key 'inptus'. Did you mean 'inputs'?"),
        ("latent_dim = 3", "table [options]"),
        ("quiet = 1", "quiet: expected true or false, got 1"),
        ('dt = "fast"', "dt: expected a number, got 'fast'"),
        ("inputs = [1]", "inputs: expected a text or a list of texts"),
        ("options = 3", "expected a table [options]"),
        ("method = 3", "method: expected a text, got 3"),
        ("= 3", "not a TOML file"),
        ('config = "other.toml"', "unknown key 'config'"),
    ],
)
def test_mistakes_in_the_file_name_file_and_key(tmp_path: Path, text: str, part: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(OptionError) as caught:
        settings_of(FitWords(config=path), "log.csv")
    assert part in str(caught.value)
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(OptionError, match=r"nowhere\.toml: no such file"):
        settings_of(FitWords(config="nowhere.toml"), "log.csv")


@given(
    st.lists(st.text("abcxyz_0 ", min_size=1).map(str.strip).filter(bool), min_size=1, unique=True),
    st.data(),
)
def test_names_may_be_joined_by_commas_in_any_way(names: list[str], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(names)))) | {0, len(names)})
    written = [" , ".join(names[a:b]) for a, b in pairwise(cuts)]
    columns = TextColumns("log.csv", [*names, "other, one"], [], lines=[])
    assert chosen_names(columns, written, "u") == names
    assert chosen_names(columns, ["other, one", *written], "u") == ["other, one", *names]


@pytest.mark.usefixtures("folder")
def test_a_misspelt_method_option_in_the_file_is_caught(refused) -> None:
    Path("fit.toml").write_text('data = "plain.csv"\n[options]\nlatent_dims = 3\n')
    assert "Did you mean 'latent_dim'" in refused("fit", "--config", "fit.toml")
