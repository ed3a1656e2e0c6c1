"""Lines of running text that are too long for a page, and how they are wrapped.

    python docs/wrapping.py README.md docs            # names them
    python docs/wrapping.py --write README.md docs    # wraps the paragraphs that have any

Code, tables, headings, comments and pictures stay as they are. The tests use `long_lines`.
"""

import argparse
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100
_FENCE = re.compile(r"^\s*(`{3,}|:{3,}|~{3,})")
_ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)]) +")
# What would begin something else than text at the beginning of a line.
_BEGINS = re.compile(r" (?=(?:[-*+>|#]|\d+[.)])(?: |$)|[|#>])")
_CODE = re.compile(r"`[^`]*`")
_GLUE = "\0"  # a space at which no line may end


def wrapped(text: str) -> str:
    """The page with no line of running text longer than `WIDTH`, as far as words allow."""
    lines: list[str] = []
    for block, is_text in _blocks(text.splitlines()):
        too_long = is_text and any(len(line) > WIDTH for line in block)
        lines += _paragraph(block) if too_long else block
    return "\n".join(lines) + "\n"


def long_lines(text: str) -> list[str]:
    """Those that `wrapped` would change."""
    return [
        line
        for block, is_text in _blocks(text.splitlines())
        if is_text and _paragraph(block) != block
        for line in block
        if len(line) > WIDTH
    ]


def _blocks(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Paragraphs and items of lists, which are text, and all lines between them."""
    block: list[str] = []
    fence = ""
    comment = False
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence):
                fence = ""
            yield [line], False
            continue
        comment = comment or line.lstrip().startswith("<!--")
        special = comment or found or not line.strip() or line.lstrip().startswith(("|", "#", "!["))
        comment = comment and "-->" not in line
        if (special or _ITEM.match(line)) and block:
            yield block, True
            block = []
        if special:
            fence = found[1] if found else ""
            yield [line], False
        else:
            block.append(line)
    if block:
        yield block, True


def _paragraph(block: list[str]) -> list[str]:
    """One paragraph or item in lines that are as long as they may be."""
    first = block[0]
    item = _ITEM.match(first)
    indent = " " * (len(item[0]) if item else len(first) - len(first.lstrip()))
    begin = item[0] if item else indent
    text = " ".join(line.strip() for line in [first[len(begin) :], *block[1:]])
    glued = _CODE.sub(lambda found: found[0].replace(" ", _GLUE), text)
    found = textwrap.wrap(
        _BEGINS.sub(_GLUE, glued),
        WIDTH,
        initial_indent=begin,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in found]


def pages(names: list[str]) -> list[Path]:
    """Files, and all Markdown below folders."""
    found = [Path(name) for name in names]
    return [
        page for path in found for page in (sorted(path.rglob("*.md")) if path.is_dir() else [path])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for path in pages(options.pages):
        text = path.read_text(encoding="utf-8")
        for line in long_lines(text):
            print(f"{path}: {line[:WIDTH]}...")
        if options.write and wrapped(text) != text:
            path.write_text(wrapped(text), encoding="utf-8")


if __name__ == "__main__":
    main()
