"""`prssm fit --stream`: training on data that stay on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prssm.cli.words import note
from prssm.foundation.errors import OptionError

if TYPE_CHECKING:
    from prssm.data.record import Record
    from prssm.data.stream.stream import Stream

# of the training data, for the table
_SHOWN_ROWS = 20_000
_SEED = 0
ONE_LEVEL = {"complexity": "free", "folds": "0"}  # where the user says nothing


def check_settings(merged: dict[str, Any]) -> None:
    """A stream brings its own columns."""
    for name in ("inputs", "outputs", "time", "dt", "split"):
        if merged[name] is not None:
            raise OptionError(
                f"--{name}: the stream {merged['stream']!r} was converted already; leave --{name} "
                "out"
            )
    if merged["data"]:
        raise OptionError(
            f"--stream: expected it instead of data, got {', '.join(merged['data'])} too"
        )


def with_one_level(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """PR-SSM trains a stream at one level; what the user said about it stays."""
    if method != "prssm":
        return options
    added = {name: value for name, value in ONE_LEVEL.items() if name not in options}
    if added:
        note(
            "a stream is trained at one level: "
            f"{', '.join(f'--{name} {value}' for name, value in added.items())}"
        )
    return added | options


def open_with_test(merged: dict[str, Any]) -> tuple[Stream, list[Record], list[Record]]:
    """The stream, some of its rows to show, and what is scored."""
    from prssm.data.io.files import read
    from prssm.data.stream.stream import Stream

    stream = Stream.open(merged["stream"])
    test = []
    if merged["test"]:
        test = [
            read(merged["test"], inputs=list(stream.input_names), outputs=list(stream.output_names))
        ]
    return stream, stream.sample(_SHOWN_ROWS, _SEED), test
