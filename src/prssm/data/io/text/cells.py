"""What a cell of a text table means: a number in the writer's style, a missing value, a switch."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from prssm.data.clock.texts import looks_like_time

# words that mean "not measured", in lower case
MISSING = frozenset(
    {
        "",
        "nan",
        "na",
        "n/a",
        "null",
        "none",
        "-",
        "--",
        "---",
        "?",
        "#n/a",
        "#na",
        "#n/a n/a",
        "<na>",
        "nat",
        "1.#qnan",
        "-1.#qnan",
        "1.#ind",
        "-1.#ind",
        "-nan",
        "nan(ind)",
        "-nan(ind)",
        "#value!",
        "#div/0!",
        "#ref!",
        "#num!",
        "missing",
    }
)
_SWITCHES = {"true": 1.0, "false": 0.0, "on": 1.0, "off": 0.0}
_INFINITE = {"1.#inf": np.inf, "-1.#inf": -np.inf}
_GROUP = re.compile("(?<=\\d)[ \u00a0\u202f\u2009'\u2019](?=\\d{3}(?!\\d))")
# a group of thousands never begins with 0: 0,978 and 0.978 are decimals
_BY_COMMA = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")  # 1,234.5
_BY_POINT = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?")  # 1.234,5
_COMMA_NUMBER = re.compile(r"[-+]?\d*,\d*([eE][-+]?\d+)?")
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")  # 1,234 and 1.234


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell whose decimal mark is '.' or ','.

    NaN where it says missing, None where it is no number.
    """
    text = _with_plain_minus(cell)
    word = text.lower()
    if word in MISSING:
        return float("nan")
    if word in _SWITCHES:
        return _SWITCHES[word]
    if word in _INFINITE:
        return _INFINITE[word]
    text = _GROUP.sub("", text)
    if decimal == ",":
        if "." in text and not _BY_POINT.fullmatch(text):
            return _float(text) if "," not in text else None
        text = text.replace(".", "").replace(",", ".")
    elif "," in text:
        if not _BY_COMMA.fullmatch(text):
            return None
        text = text.replace(",", "")
    return _float(text)


def _with_plain_minus(cell: str) -> str:
    """Word processors and some exports write a minus sign of their own."""
    return cell.strip().replace("\N{MINUS SIGN}", "-")


def _float(text: str) -> float | None:
    if "_" in text:  # Python's own grouping, which no other program writes
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_value(cell: str) -> bool:
    """Whether this is data and no name: a number in any style, a missing value, a time."""
    return (
        number(cell) is not None or number(cell, ",") is not None or looks_like_time(cell.strip())
    )


def decimal_mark(cells: Iterable[str]) -> str | None:
    """',' or '.', as the cells show beyond doubt; 'both' where some show one and some the other.

    None where all of them could be read either way, or have neither mark.
    """
    found = {mark for mark in map(_shown_mark, cells) if mark is not None}
    if len(found) == 2:
        return "both"
    return next(iter(found), None)


def first_doubtful(cells: Sequence[str]) -> int | None:
    """The first cell that is one number with a decimal comma and another with thousands: 1,234."""
    for row, cell in enumerate(cells):
        if "," in cell and _EITHER.fullmatch(_with_plain_minus(cell)):
            return row
    return None


def _shown_mark(cell: str) -> str | None:
    text = _GROUP.sub("", _with_plain_minus(cell))
    comma = "," in text
    point = "." in text
    if not (comma or point) or _EITHER.fullmatch(text):
        return None
    if _BY_COMMA.fullmatch(text):
        return "."
    if _BY_POINT.fullmatch(text):
        return ","
    if comma and not point and _COMMA_NUMBER.fullmatch(text):
        return ","
    if point and not comma and _float(text) is not None:
        return "."
    return None
