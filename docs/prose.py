"""How the manual reads: sentences and their lengths.

    python docs/prose.py docs/tutorials docs/explanation

prints a line for each page and its longest sentences; the tests use the same functions.
"""

import re
import sys
from pathlib import Path

LONG = 25  # words of a sentence
_FENCED = re.compile(r"^ *```.*?^ *```\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_LIST = re.compile(r"^\s*(?:[-*]|\d+\.) ")


def without_code(text: str) -> str:
    """The page without fenced blocks and without `code`."""
    return re.sub(r"`[^`\n]*`", "code", _FENCED.sub("", text))


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence of running text: no tables, headings, code or pictures."""
    text = _COMMENT.sub("", without_code(text)).replace("**", "")
    kept = []
    for line in text.splitlines():
        if line.lstrip().startswith(("#", "|", "![")):
            kept.append("")
        else:
            kept.append(_LIST.sub("\n\n", line))
    found = []
    for paragraph in re.split(r"\n\s*\n", _LINK.sub(r"\1", "\n".join(kept))):
        for sentence in re.split(r"(?<=[.?!:])\s+", " ".join(paragraph.split())):
            words = re.findall(r"[\w'%-]+", sentence)
            if words:
                found.append(words)
    return found


def anchors(text: str) -> set[str]:
    """The names by which headings of a page can be linked to."""
    heads = re.findall(r"^#+ (.*)$", _FENCED.sub("", text), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", head.lower()).strip() for head in heads]
    return {head.replace(" ", "-") for head in plain}


def indented_code(text: str) -> list[str]:
    """First lines of code blocks that are made by indentation: they would not be run."""
    found = []
    before = ""
    in_list = False
    for line in _FENCED.sub("", text).splitlines():
        if _LIST.match(line):
            in_list = True
        elif line and not line.startswith(" "):
            in_list = False
        deep = 6 if in_list else 4
        is_code = line.startswith(" " * deep) and not _LIST.match(line)
        if is_code and not before.strip() and not line.lstrip().startswith(("|", "<!--")):
            found.append(line)
        before = line
    return found


def main() -> None:
    for name in sys.argv[1:]:
        folder = Path(name)
        for path in sorted(folder.rglob("*.md")) if folder.is_dir() else [folder]:
            told = sentences(path.read_text(encoding="utf-8"))
            long = sorted((words for words in told if len(words) > LONG), key=len, reverse=True)
            mean = sum(map(len, told)) / max(len(told), 1)
            print(f"{path}: {len(told)} sentences, mean {mean:.1f} words, {len(long)} long")
            for words in long:
                print(f"    {len(words)}: {' '.join(words)}")


if __name__ == "__main__":
    main()
