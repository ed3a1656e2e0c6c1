"""The manual's form: code is fenced, commands exist, links lead somewhere, sentences are short."""

import re
import shlex
import subprocess
from pathlib import Path

import pages
import prose
import pytest
import wrapping

import prssm
from prssm.cli.main import app
from prssm.foundation import errors
from prssm.foundation.version import __version__

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_generated" not in path.parts)
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PARTS = ("tutorials", "how-to", "reference", "explanation", "index.md", "accuracy.md")
TOLD = [*(DOCS / part for part in PARTS), ROOT / "README.md"]
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
MENTION = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.(?:md|png|py)(?!\w)")
KNOWN_PROGRAMS = {"pip", "python", "make", "git", "dask", "auditwheel"}
EMPTY_TABLE = re.compile(r"^ *\|(?: *:?-+:? *\|)+ *\n(?! *\|)", re.MULTILINE)
LARGEST_PICTURE = 100_000  # bytes
# made by benchmarks and studies before there was a limit
LARGE_PICTURES = {
    "drives-methods.png",
    "full-vs-stochastic.png",
    "recognition.png",
    "seven-joints.png",
    "untrained-vs-trained.png",
}


def short(path):
    return str(path.relative_to(ROOT))


def all_blocks():
    return [block for path in [*PAGES, FRONT[0]] for block in pages.read(path).blocks]


@pytest.mark.parametrize("path", [*PAGES, FRONT[0]], ids=short)
def test_code_is_fenced_and_has_a_language(path):
    assert prose.indented_code(path.read_text(encoding="utf-8")) == []
    named = {block.language for block in pages.read(path).blocks}
    assert named <= {*pages.RUNNABLE, "text"}


@pytest.mark.parametrize("path", [*PAGES, *FRONT], ids=short)
def test_lines_of_running_text_fit(path):
    """`python docs/wrapping.py --write PAGE` wraps them."""
    assert wrapping.long_lines(path.read_text(encoding="utf-8")) == []


def test_what_is_not_run_says_why_and_calls_what_there_is():
    for block in all_blocks():
        if block.rule != "no":
            continue
        assert block.reason, f"{block.where}: say after 'run: no,' why"
        for line in pages.commands(block.text):
            check_command(shlex.split(line, comments=True), block)


def text_of(program):
    """A program, and the command line that it may share with others in its folder."""
    text = program.read_text(encoding="utf-8")
    if "from linear_study import" in text:
        text += (program.parent / "linear_study.py").read_text(encoding="utf-8")
    return text


def check_command(words, block):
    """A command of ours is parsed; of a program in the repository the file and options exist."""
    while words and ("=" in words[0] or words[0] == "export"):
        words = words[1:]
    if not words:
        return
    if words[0] == "srun":
        words = words[words.index("prssm") :]
    if words[0] == "prssm":
        app.parse_args(words[1:], exit_on_error=False, print_error=False)
    elif words[0] == "python" and words[1] != "-m":
        program = ROOT / words[1]
        assert program.is_file(), f"{block.where}: {words[1]} is not there"
        text = text_of(program)
        missing = [w for w in words[2:] if w.startswith("--") and f'"{w}"' not in text]
        assert missing == [], f"{block.where}: {words[1]} has no {missing}"
    else:
        assert words[0] in KNOWN_PROGRAMS, f"{block.where}: what is {words[0]}?"


@pytest.mark.parametrize("path", [*PAGES, *FRONT], ids=short)
def test_links_lead_somewhere(path):
    """Files and headings of the repository; of others only the form can be checked here."""
    text = prose.without_code(path.read_text(encoding="utf-8"))
    for found in LINK.finditer(text):
        target = found["target"]
        if re.match(r"https?:", target):
            assert re.fullmatch(r"https://[\w.-]+\.[a-z]{2,}(/[\w./%#?=&~:+-]*)?", target), target
            continue
        name, _, heading = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), f"{short(path)}: {target} leads nowhere"
        if heading:
            assert heading in prose.anchors(there.read_text(encoding="utf-8")), f"no #{heading}"


@pytest.mark.parametrize("path", [*PAGES, *FRONT], ids=short)
def test_tables_have_rows(path):
    assert EMPTY_TABLE.findall(path.read_text(encoding="utf-8")) == []


def test_every_page_that_is_named_exists():
    """In programs, tests and the other files of the repository."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not names:
        pytest.skip("needs a checkout")
    endings = (".py", ".md", ".h", ".cc", ".toml", ".cff")
    for name in names:
        path = ROOT / name
        if name.endswith(endings) and path.is_file() and path != Path(__file__):
            for mention in MENTION.findall(path.read_text(encoding="utf-8")):
                assert (ROOT / mention).exists(), f"{name} names {mention}"


def test_the_mathematics_names_files_that_exist():
    """Equation, file, test: every path of the tables, below `src/prssm` or as it is."""
    text = (DOCS / "explanation" / "theory.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for name in re.findall(r"`([\w*/]+/[\w*]+\.py)`", "\n".join(rows)):
        found = [*ROOT.glob(name), *(ROOT / "src" / "prssm").glob(name)]
        assert found, f"theory.md names {name}"


def test_every_public_name_is_on_the_page_of_python():
    """Errors have a page of their own, which is made from the program."""
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = [name for name in prssm.__all__ if not hasattr(errors, name)]
    assert [name for name in listed if f"`{name}`" not in text] == ["__version__"]


def test_the_citation_has_the_version_and_the_licence():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}" in text
    assert "license: MIT" in text


def test_pictures_are_small_and_shown():
    shown = " ".join(path.read_text(encoding="utf-8") for path in [*PAGES, *FRONT])
    for path in DOCS.rglob("*.png"):
        assert path.name in shown, f"{short(path)} is on no page"
        assert path.name in LARGE_PICTURES or path.stat().st_size < LARGEST_PICTURE, short(path)


def test_sentences_are_short():
    """Plain English: below 25 words as a rule, and 12 to 18 on average."""
    for folder in TOLD:
        for path in sorted(folder.rglob("*.md")) if folder.is_dir() else [folder]:
            counts = [len(words) for words in prose.sentences(path.read_text(encoding="utf-8"))]
            long = [count for count in counts if count > prose.LONG]
            assert len(long) <= 0.1 * len(counts), f"{short(path)}: {len(long)} of {len(counts)}"
            assert sum(counts) <= 18 * len(counts), short(path)
