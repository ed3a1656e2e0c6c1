"""CSV and its relatives, with or without a header.

Comma, semicolon, tab, bar or blanks between cells; decimal point or comma.
"""

from pathlib import Path

from prssm.data.io.columns import NO_WORDS, FileWords, TextColumns
from prssm.data.io.text.layout import layout_of


def read_text(path: Path, words: FileWords = NO_WORDS) -> TextColumns:
    """The cells of a text file. Without a header the columns are called by number: "1", "2", ..."""
    found = layout_of(path)
    return TextColumns(
        str(path),
        found.names,
        found.rows,
        lines=found.lines,
        has_header=found.has_header,
        units=found.units,
        mark=found.mark,
        decimal=words.decimal,
    )
