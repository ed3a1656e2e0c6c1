"""The words of `prssm fit`, and what settings they make.

Those that it shares with `prssm search` are here, too.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.merging import Said, Words, word_names
from prssm.cli.whole import MaybeWhole
from prssm.data.clock.rules import seconds_of
from prssm.evaluation.tasks.settings import DataSettings, FitSettings, ProcessSettings
from prssm.foundation.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class DataWords(ReadingWords, Words):
    """What `prssm fit` and `prssm search` are both told: which data, and which method."""

    test: Annotated[str | None, Parameter(help="A file that is scored and not trained on.")] = None
    split: Annotated[
        float | None,
        Parameter(
            help="Train on this first fraction of the rows, score the rest. Without --test and "
            "--split all rows train."
        ),
    ] = None
    rows: Annotated[
        str | None,
        Parameter(help="Train on these rows alone, e.g. 0:700 or 10s:90s; several: 0:300,500:700."),
    ] = None
    test_rows: Annotated[
        str | None,
        Parameter(help="Rows that are scored and not trained on, e.g. 700:1000."),
    ] = None
    method: Annotated[
        str | None,
        Parameter(help="What to fit; `prssm methods` lists them.", show_default=FitSettings.method),
    ] = None
    preset: Annotated[
        str | None,
        Parameter(
            help="Which set of option values to start from.", show_default=FitSettings.preset
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FitWords(DataWords):
    """What `prssm fit` is told besides."""

    stream: Annotated[
        str | None,
        Parameter(
            help="A folder made by `prssm convert`, instead of data files: 100000 of its rows "
            "train in memory, or with --complexity free all of them, read as training goes."
        ),
    ] = None
    out: Annotated[
        str | None, Parameter(help="Where the model goes.", show_default=str(FitSettings.out))
    ] = None
    report: Annotated[str | None, Parameter(help="Also write a report, one HTML page.")] = None
    static: Annotated[
        bool | None,
        Parameter(
            negative="",
            help="With --report: pictures alone, which no reader can zoom in.",
            show_default=False,
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        Parameter(
            help="Where training saves itself until it is done. Default: the model's name with "
            ".checkpoint added."
        ),
    ] = None
    resume: Annotated[
        bool | None,
        Parameter(negative="", help="Continue from the checkpoint.", show_default=False),
    ] = None
    budget: Annotated[
        str | None,
        Parameter(
            help="How long the fit should take at most, e.g. 60s or 5min; it then trains as well "
            "as that time allows."
        ),
    ] = None
    preprocess: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="A step before training, e.g. detrend=linear, lowpass=2Hz, outliers, cut=100:900; "
            "repeated, in this order. Saved with the model: new data pass it too.",
        ),
    ] = None
    progress: Annotated[
        str | None,
        Parameter(help="Write what goes on to this file, a JSON line each, instead of a bar."),
    ] = None
    quiet: Annotated[
        bool | None, Parameter(negative="", help="No progress bar, no table.", show_default=False)
    ] = None
    devices: Annotated[
        str | None,
        Parameter(
            help="Split training between so many devices, or 'auto' for all. Default: one, or all "
            "where processes join."
        ),
    ] = None
    coordinator: Annotated[
        str | None,
        Parameter(
            help="Join a run in several processes: host:port of process 0, or 'auto' under SLURM "
            "or Open MPI."
        ),
    ] = None
    processes: Annotated[
        MaybeWhole, Parameter(help="With --coordinator: how many processes there are.")
    ] = None
    process: Annotated[
        MaybeWhole, Parameter(help="With --coordinator: which of them this is, from 0.")
    ] = None
    config: Annotated[
        str | None,
        Parameter(
            help='A TOML file with any of these as keys (data = "log.csv", ...) and the method\'s '
            "options in a table "
            "[options]. The command line wins over the file."
        ),
    ] = None


FIT_WORDS = word_names(FitWords)


def data_settings(said: Said[DataWords], stream: str | None = None) -> DataSettings:
    """Which data were meant."""
    return DataSettings(
        data=said.data,
        stream=stream,
        **said.words.chosen(),
        **said.given("test", "split", "rows", "test_rows"),
    )


def fit_settings(said: Said[FitWords]) -> FitSettings:
    """What to fit, and how."""
    words = said.words
    return FitSettings(
        data=data_settings(said, words.stream),
        options=said.options,
        checkpoint=Path(words.checkpoint) if words.checkpoint else None,
        devices=device_count(words.devices),
        budget=seconds(words.budget),
        processes=ProcessSettings(**said.given("coordinator", "processes", "process")),
        out=Path(words.out) if words.out else FitSettings.out,
        preprocess=tuple(words.preprocess or ()),
        **said.given("method", "preset", "resume"),
    )


def seconds(word: str | None) -> float | None:
    """What `--budget` says: '90', '90s', '1.5min' or '1h'."""
    return None if word is None else seconds_of(word, "--budget")


def device_count(word: str | None) -> int | str | None:
    """What `--devices` says: a number, 'auto', or None."""
    if word is None or word == "auto":
        return word
    if not word.isdecimal():
        raise OptionError(f"--devices: expected a whole number or 'auto', got {word!r}")
    return int(word)
