"""A page of the manual as blocks that run.

    python docs/pages.py docs/tutorials/first-model.md            # runs the page from its top
    python docs/pages.py docs/tutorials/first-model.md --write    # and puts what it gave into it

Python blocks of a page share their names, and all blocks share one folder. A comment on the line
above a block says what is special about it:

    <!-- run: slow -->              takes long: `make docs-test` runs it, `make test` does not
    <!-- run: slow, recordings -->  and needs the public recordings (PRSSM_DATA)
    <!-- run: no, REASON -->        is not run, only checked for its form
    <!-- run: fails -->             shows a mistake: a command that ends with exit code 2
    <!-- output -->                 of a text block: what the block before it printed
    <!-- picture: NAME -->          of a picture: the file NAME that a block before it wrote
    <!-- scene: NAME -->            of the whole page: the files that it begins with (scenes.py)
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUNNABLE = ("python", "sh", "c", "toml")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[^\s`]*)[^`]*$")
_MARK = re.compile(r"^\s*<!-- (?P<word>run|output|picture|scene)(?:: (?P<value>.*?))? -->\s*$")
_IMAGE = re.compile(r"^!\[.*\]\((?P<path>[^)]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, its text, and how it is run."""

    page: Path
    line: int  # of its first line of text, from 1
    language: str
    text: str
    rule: str = ""  # "", "slow", "no" or "fails"
    reason: str = ""
    is_output: bool = False

    @property
    def runs(self) -> bool:
        return self.language in RUNNABLE and self.rule != "no"

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass
class Page:
    """What a page has of blocks and pictures."""

    path: Path
    scene: str = ""
    blocks: list[Block] = field(default_factory=list)
    pictures: dict[str, Path] = field(default_factory=dict)  # file of a run -> file of the manual


def read(path: Path) -> Page:
    """The blocks of a page in their order."""
    page = Page(path)
    marks: dict[str, str] = {}
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if mark := _MARK.match(line):
            marks[mark["word"]] = mark["value"] or ""
            page.scene = marks.pop("scene", page.scene)
        elif fence := _FENCE.match(line):
            text = "".join(_until_closed(lines, fence["indent"]))
            if not fence["language"].startswith("{"):  # those are directives of Sphinx
                block = _block(path, number + 1, fence["language"], text=text, marks=marks)
                page.blocks.append(block)
            marks = {}
        elif image := _IMAGE.match(line):
            if "picture" in marks:
                page.pictures[marks["picture"]] = path.parent / image["path"]
            marks = {}
        elif line.strip():
            marks = {}
    return page


def _until_closed(lines: Iterator[tuple[int, str]], indent: str) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == "```":
            return
        yield line.removeprefix(indent) + "\n"


def _block(path: Path, line: int, language: str, *, text: str, marks: dict[str, str]) -> Block:
    rule, _, reason = marks.get("run", "").partition(",")
    if rule not in ("", "slow", "no", "fails"):
        raise ValueError(f"{path}:{line}: unknown rule {rule!r}")
    return Block(path, line, language, text, rule, reason.strip(), "output" in marks)


class Run:
    """One run of a page in a folder: names and files stay from block to block."""

    def __init__(self, folder: Path, *, in_process: bool) -> None:
        self.folder = folder
        self.in_process = in_process  # commands of ours then need no process of their own
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def block(self, block: Block) -> str:
        """Run a block; what it printed."""
        kinds: dict[str, Callable[[Block], str]] = {
            "python": self._python,
            "sh": self._commands,
            "c": self._c,
            "toml": self._toml,
        }
        with contextlib.chdir(self.folder):
            return kinds[block.language](block)

    def _python(self, block: Block) -> str:
        above = "\n" * (block.line - 1)  # so that a traceback has the page's line
        code = compile(above + block.text, str(block.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(code, self._names)
        return said.getvalue()

    def _commands(self, block: Block) -> str:
        lines = commands(block.text)
        if self.in_process and all(line.startswith("prssm ") for line in lines):
            return "".join(_in_this_process(line, block) for line in lines)
        done = subprocess.run(
            ["bash", "-ec", block.text],
            cwd=self.folder,
            env=os.environ | {"PATH": f"{_programs()}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        _check_code(block, done.returncode, done.stderr)
        return done.stdout + (done.stderr if block.rule == "fails" else "")

    def _c(self, block: Block) -> str:
        (self.folder / "main.c").write_text(block.text)
        return ""

    def _toml(self, block: Block) -> str:
        """A file whose name is the first word of the comment in its first line."""
        name = block.text.split()[1].rstrip(":")
        (self.folder / name).write_text(block.text)
        return ""


def commands(text: str) -> list[str]:
    """The command lines of a block, without comments and with broken lines joined."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def _in_this_process(line: str, block: Block) -> str:
    from prssm.cli.main import main

    said = io.StringIO()
    errors = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        code = main(shlex.split(line, comments=True)[1:])
    _check_code(block, code, errors.getvalue())
    return said.getvalue() + (errors.getvalue() if block.rule == "fails" else "")


def _check_code(block: Block, code: int, said: str) -> None:
    expected = 2 if block.rule == "fails" else 0
    if code != expected:
        raise RuntimeError(f"{block.where}: exit code {code}, expected {expected}: {said[-600:]}")


def _programs() -> str:
    """A folder in which `prssm` and `python` are those of this interpreter."""
    folder = Path(tempfile.gettempdir()) / f"prssm-manual-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    for name, words in (("prssm", " -m prssm.cli.main"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{words} "$@"\n')
        program.chmod(0o755)
    return f"{folder}:{Path(sys.executable).parent}"


def run(page: Page, folder: Path, *, in_process: bool, slow: bool) -> dict[Block, str]:
    """Run a page's blocks in their order; what each printed."""
    runner = Run(folder, in_process=in_process)
    return {block: runner.block(block) for block in chosen(page, slow=slow)}


def chosen(page: Page, *, slow: bool) -> list[Block]:
    """The blocks that are run here: slow ones if they are wanted and have the data they need."""
    has_recordings = bool(os.environ.get("PRSSM_DATA"))
    return [
        block
        for block in page.blocks
        if block.runs
        and (slow or block.rule != "slow")
        and (has_recordings or block.reason != "recordings")
    ]


def with_outputs(page: Page, said: dict[Block, str]) -> str:
    """The page's text with what its blocks printed in the blocks that are for it."""
    lines = page.path.read_text(encoding="utf-8").splitlines()
    before = None
    replaced: list[tuple[Block, str]] = []
    for block in page.blocks:
        if block.is_output and before in said:
            replaced.append((block, said[before]))
        before = block
    for block, text in reversed(replaced):
        first = block.line - 1
        last = first + len(block.text.splitlines())
        lines[first:last] = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def main() -> None:
    import scenes

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="put outputs and pictures into it")
    options = parser.parse_args()
    for path in options.page:
        page = read(path.resolve())
        with tempfile.TemporaryDirectory() as folder:
            scenes.write(page.scene, Path(folder))
            said = run(page, Path(folder), in_process=False, slow=True)
            for block, text in said.items():
                print(f"--- {block.where}\n{text}")
            if options.write:
                page.path.write_text(with_outputs(page, said), encoding="utf-8")
                for name, target in page.pictures.items():
                    shutil.copyfile(Path(folder) / name, target)


if __name__ == "__main__":
    main()
