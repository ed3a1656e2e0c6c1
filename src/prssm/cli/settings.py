"""What `prssm fit` and `prssm search` can be told, on the command line or in a TOML file.

The command line wins; defaults come last.

A file looks like this; every key of the top level is the word of a command-line option, [options]
belongs to the method:

    data = "log.csv"
    inputs = ["valve"]
    outputs = ["pressure"]
    split = 0.7

    [options]
    latent_dim = 4
"""

import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from prssm.foundation.errors import OptionError, did_you_mean

DEFAULTS: dict[str, Any] = {
    "method": "prssm",
    "preset": "default",
    "out": "model.prssm",
    "resume": False,
    "quiet": False,
}


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Every field is None until someone says something, so that a file can fill what the command
    line left open.
    """

    inputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--inputs", "-u"],
            negative="",
            help="Input columns: a,b or repeated. Default: u, or u1, u2, ...",
        ),
    ] = None
    outputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--outputs", "-y"],
            negative="",
            help="Output columns: a,b or repeated. Default: y, or y1, y2, ...",
        ),
    ] = None
    time: Annotated[str | None, Parameter(help="Column of time stamps, checked for gaps.")] = None
    dt: Annotated[
        float | None, Parameter(help="Seconds between rows, where there is no time column.")
    ] = None
    stream: Annotated[
        str | None,
        Parameter(
            help="A folder made by `prssm convert`, from which training reads as it goes, instead "
            "of data files."
        ),
    ] = None
    test: Annotated[str | None, Parameter(help="A file that is scored and not trained on.")] = None
    split: Annotated[
        float | None,
        Parameter(
            help="Train on this first fraction of the rows, score the rest. Without --test and "
            "--split all rows train."
        ),
    ] = None
    method: Annotated[
        str | None,
        Parameter(help="What to fit; `prssm methods` lists them.", show_default=DEFAULTS["method"]),
    ] = None
    preset: Annotated[
        str | None,
        Parameter(
            help="Which set of option values to start from.", show_default=DEFAULTS["preset"]
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings(DataSettings):
    """What is said to `prssm fit` only."""

    out: Annotated[
        str | None, Parameter(help="Where the model goes.", show_default=DEFAULTS["out"])
    ] = None
    report: Annotated[str | None, Parameter(help="Also write a report, one HTML page.")] = None
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
        int | None, Parameter(help="With --coordinator: how many processes there are.")
    ] = None
    process: Annotated[
        int | None, Parameter(help="With --coordinator: which of them this is, from 0.")
    ] = None
    config: Annotated[
        str | None,
        Parameter(
            help='A TOML file with any of these as keys (data = "log.csv", ...) and the method\'s '
            "options in a table "
            "[options]. The command line wins over the file."
        ),
    ] = None


SETTINGS = tuple(field.name for field in dataclasses.fields(Settings))
_LISTS = ("data", "inputs", "outputs")
_FLAGS = ("resume", "quiet", "prune", "no_fit", "retry_failed")
_NUMBERS = ("dt", "split", "hold_out")
_COUNTS = ("trials", "folds", "workers", "processes", "process")
_TABLES = ("over",)


def resolve(
    data: tuple[str, ...],
    settings: Any,
    options: dict[str, str],
    defaults: dict[str, Any] = DEFAULTS,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """All settings and all method options (still as written), from command line, file and
    defaults.
    """
    known = tuple(field.name for field in dataclasses.fields(settings))
    from_file, file_options = _read(Path(settings.config), known) if settings.config else ({}, {})
    given = {name: value for name, value in vars(settings).items() if value is not None}
    if data:
        given["data"] = list(data)
    if "test" in given or "split" in given:  # one replaces the other across command line and file
        from_file = {
            name: value for name, value in from_file.items() if name not in ("test", "split")
        }
    merged = dict.fromkeys(("data", *known)) | defaults | from_file | given
    merged |= {name: split_names(merged[name]) for name in ("inputs", "outputs")}
    if not merged["data"] and not merged.get("stream"):
        raise OptionError(
            "no data: name a file or a data set, e.g. prssm fit log.csv (prssm datasets lists the "
            "sets)"
        )
    if merged["test"] and merged["split"] is not None:
        raise OptionError("--test and --split: give one of them, not both")
    if merged["split"] is not None and not 0.0 < merged["split"] < 1.0:
        raise OptionError(f"--split: expected a fraction between 0 and 1, got {merged['split']}")
    return merged, file_options | {name.replace("-", "_"): text for name, text in options.items()}


def split_names(names: list[str] | None) -> list[str] | None:
    """['a,b', 'c'] -> ['a', 'b', 'c']."""
    if names is None:
        return None
    return [name.strip() for item in names for name in item.split(",") if name.strip()]


def _read(path: Path, settings: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OptionError(f"--config: {path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"--config: {path}: not a TOML file: {error}") from None
    options = document.pop("options", {})
    if not isinstance(options, dict):
        raise OptionError(f"--config: {path}: options: expected a table [options], got {options!r}")
    values = {key.replace("-", "_"): value for key, value in document.items()}
    return {key: _checked(key, value, path, settings=settings) for key, value in values.items()}, {
        key.replace("-", "_"): value for key, value in options.items()
    }


def _checked(key: str, value: Any, path: Path, settings: tuple[str, ...]) -> Any:
    known = ("data", *(name for name in settings if name != "config"))
    if key not in known:
        raise OptionError(
            f"--config: {path}: unknown key {key!r}.{did_you_mean(key, [*known, 'options'])}"
            " (options of the method go into a table [options])"
        )
    if key in _LISTS:
        value = [value] if isinstance(value, str) else value
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
        wanted = "a text or a list of texts"
    elif key in _FLAGS:
        fits = isinstance(value, bool)
        wanted = "true or false"
    elif key in _NUMBERS:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        wanted = "a number"
    elif key in _COUNTS:
        fits = isinstance(value, int) and not isinstance(value, bool)
        wanted = "a whole number"
    elif key in _TABLES:
        fits = isinstance(value, dict)
        wanted = f"a table [{key}]"
    elif key == "devices":
        fits = isinstance(value, int | str) and not isinstance(value, bool)
        wanted = "a whole number or 'auto'"
    else:
        fits = isinstance(value, str)
        wanted = "a text"
    if not fits:
        raise OptionError(f"--config: {path}: {key}: expected {wanted}, got {value!r}")
    return value
