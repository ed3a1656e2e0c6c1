"""A fit as words: what they make of themselves again is the same fit."""

import shlex
from pathlib import Path

import pytest

from prssm.cli.commands.fit import fit
from prssm.cli.merging import merge
from prssm.cli.settings import FitWords, fit_settings
from prssm.evaluation.tasks.settings import DataSettings, FitSettings
from prssm.evaluation.tasks.words import fit_script, fit_words

READ = ("inputs", "outputs", "time", "gaps", "sort", "resample", "test", "dt", "split")
SETTINGS = [
    FitSettings(data=DataSettings(data=("log.csv",))),
    FitSettings(
        data=DataSettings(
            data=("a.csv", "-b.csv"),
            inputs=("-u", "a b"),
            outputs=("y,1", "$(rm)"),
            time="t [s]",
            gaps="split",
            sort=True,
            resample="0.5s",
            test="c.csv",
        ),
        method="linear",
        options={"seed": "3"},
        budget=12.5,
        out=Path("models/x.prssm"),
        resume=True,
    ),
    FitSettings(data=DataSettings(data=("log.csv",), dt=0.1, split=0.7), preset="paper"),
    FitSettings(
        data=DataSettings(data=("log.csv",), rows="0:300,500:700", test_rows="700:1000"),
        preprocess=("outliers", "detrend=linear"),
    ),
]


def parsed(words: list[str]) -> FitSettings:
    """What the command line makes of words."""
    from cyclopts import App

    app = App(result_action="return_value")
    app.command(fit, name="fit")
    _, bound, _ = app.parse_args(words[1:])
    said = merge(bound.args, bound.kwargs.get("words", FitWords()), {})
    options = {k: v for k, v in bound.kwargs.items() if k != "words"}
    return fit_settings(merge(said.data, said.words, options))


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_command_line_makes_the_same_settings(settings: FitSettings) -> None:
    line = shlex.join(fit_words(settings))
    found = parsed(shlex.split(line))
    assert list(found.data.data) == [
        f"./{word}" if word.startswith("-") else word for word in settings.data.data
    ]
    for name in (*READ, "rows", "test_rows"):
        assert getattr(found.data, name) == getattr(settings.data, name), name
    for name in ("method", "preset", "budget", "out", "resume", "preprocess"):
        assert getattr(found, name) == getattr(settings, name), name
    assert dict(found.options) == dict(settings.options)


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_script_is_a_program(settings: FitSettings) -> None:
    compile(fit_script(settings), "script.py", "exec")
