"""Whole numbers on the command line: the types of options that count something.

Use them as `samples: Annotated[MaybeWhole, Parameter(help=...)] = None`.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter, Token


def _whole(kind: Any, tokens: Sequence[Token]) -> int:
    """Cyclopts alone would round 1.5 to 2 without a word."""
    word = tokens[0].value
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"expected a whole number, got {word!r}.") from None


Whole = Annotated[int, Parameter(converter=_whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=_whole)]
FirstRows = Annotated[
    MaybeWhole,
    Parameter(
        help="Rows whose outputs the run may read to find its first state, where that is fewer "
        "than the model's own number."
    ),
]
