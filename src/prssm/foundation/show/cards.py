"""What an object shows of itself in a notebook: a title, facts, a table, a picture.

A class gets it by three lines, in which `card` escapes every text:

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        return card("Record", [("rows", "100")])
"""

import functools
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

_CELL = 'style="text-align:left;padding:1px 14px 1px 0;vertical-align:top;font-weight:normal"'
_HEAD = 'style="text-align:left;padding:1px 14px 1px 0;font-weight:600"'
_LONGEST = 200  # characters of one text
_MOST_ROWS = 30

Cell = str | float | int | None


def shown_in_notebooks(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """Makes a `_repr_html_` that never raises: what cannot be drawn is shown as its plain text."""

    @functools.wraps(method)
    def shown(self: Any) -> str:
        try:
            return method(self)
        except Exception:  # to look at an object must never stop a notebook
            return f"<pre>{escape(repr(self))}</pre>"

    return shown


def card(
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    *,
    table: str = "",
    cautions: Sequence[str] = (),
    picture: str = "",
    alternative: str = "",
) -> str:
    """HTML of some lines, in which every text is escaped.

    `table` comes from `grid`; `picture` is the address of an image.
    """
    parts = [f"<div><strong>{_text(title)}</strong></div>"]
    if facts:
        rows = "".join(
            f"<tr><th {_HEAD}>{_text(name)}</th><td {_CELL}>{_text(value)}</td></tr>"
            for name, value in facts
        )
        parts.append(f"<table>{rows}</table>")
    parts += [f"<div>Caution: {_text(text)}</div>" for text in cautions]
    parts += [table] if table else []
    if picture:
        parts.append(
            f'<img src="{escape(picture)}" alt="{_text(alternative or title)}" '
            'style="max-width:100%;background:#fff">'
        )
    return f'<div style="max-width:60rem">{"".join(parts)}</div>'


def grid(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A small table: numbers with four digits, the first rows of many."""
    head = "".join(f"<th {_HEAD}>{_text(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{_text(_cell(value))}</td>" for value in row) + "</tr>"
        for row in rows[:_MOST_ROWS]
    )
    more = len(rows) - _MOST_ROWS
    told = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{told}"


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
    return escape(short)
