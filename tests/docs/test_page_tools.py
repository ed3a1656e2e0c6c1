"""The programs that read and run pages see what they must."""

from pathlib import Path

import pages
import prose
import pytest
import wrapping
from markdown_it import MarkdownIt

PAGE = """\
# A page

<!-- scene: pump -->

```python
a = 2
print(a)
```

<!-- output -->
```text
old
```

- in a list

  <!-- run: no, has a reason -->
  ```sh
  prssm fit --nothing
  ```

<!-- run: fails -->
```sh
prssm fit nowhere.csv
```

<!-- picture: run.png -->
![A run](figures/run.png)

```{toctree}
other
```

```python
print(a + 1)
```

<!-- output -->
```text
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return pages.read(path)


def test_a_page_is_read_with_its_rules(page):
    assert page.scene == "pump"
    assert page.pictures == {"run.png": page.path.parent / "figures/run.png"}
    languages = [block.language for block in page.blocks]
    assert languages == ["python", "text", "sh", "sh", "python", "text"]
    assert [block.rule for block in page.blocks] == ["", "", "no", "fails", "", ""]
    assert page.blocks[2].text == "prssm fit --nothing\n"
    assert page.blocks[2].reason == "has a reason"
    assert [block.is_output for block in page.blocks] == [False, True, False, False, False, True]


def test_blocks_share_names_and_outputs_go_where_they_belong(page, tmp_path):
    said = pages.run(page, tmp_path, in_process=True, slow=False)
    assert [text for block, text in said.items() if block.language == "python"] == ["2\n", "3\n"]
    text = pages.with_outputs(page, said)
    assert "```text\n2\n```" in text
    assert text.endswith("```text\n3\n```\n")
    assert "old" not in text
    again = page.path
    again.write_text(text)
    assert pages.with_outputs(pages.read(again), said) == text


def test_a_command_that_should_fail_and_does_not_is_an_error(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("<!-- run: fails -->\n```sh\nprssm methods\n```\n")
    with pytest.raises(RuntimeError, match=r"page\.md:3: exit code 0, expected 2"):
        pages.run(pages.read(path), tmp_path, in_process=True, slow=False)


def test_a_python_block_that_fails_names_its_line(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Title\n\n```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        pages.run(pages.read(path), tmp_path, in_process=True, slow=False)
    assert caught.traceback[-1].lineno == 3  # counted from 0
    assert Path(caught.traceback[-1].path) == path


def test_an_unknown_rule_is_refused(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("<!-- run: sometimes -->\n```sh\ntrue\n```\n")
    with pytest.raises(ValueError, match="unknown rule 'sometimes'"):
        pages.read(path)


def test_sentences_are_those_of_running_text():
    text = (
        "# Head\n\nOne `two` three. Four?\n\n| a | b |\n\n- item one\n- item two\n\n```sh\nx\n```\n"
    )
    assert [len(words) for words in prose.sentences(text)] == [3, 1, 2, 2]


def test_indented_code_is_found_and_a_list_is_not():
    assert prose.indented_code("Text:\n\n    code here\n") == ["    code here"]
    assert prose.indented_code("- item\n\n      code here\n") == ["      code here"]
    assert prose.indented_code("- item\n\n    more of it\n") == []
    assert prose.indented_code("```sh\n\n    a\n```\n") == []


def test_anchors_are_those_of_headings():
    assert prose.anchors("# A page: `x`, (y)\n\n```sh\n# no\n```\n## Much data\n") == {
        "a-page-x-y",
        "much-data",
    }


# ---- long lines ----

WORDS = "some words of a sentence that goes on and on "
LONG_PAGE = f"""\
# {WORDS * 3}

{WORDS * 4}`code with  spaces {WORDS}` - a dash, 12. a number, # a sign.
A [link of some words](somewhere.md#far-away) {WORDS}
- {WORDS * 3}
  {WORDS}
  1. {WORDS * 3}

| {WORDS * 3} |
|---|
| a |

<!-- {WORDS * 3}
{WORDS * 3} -->
```sh
{WORDS * 3}
```

short
lines stay
"""


def rendered(text):
    return " ".join(MarkdownIt("commonmark").enable("table").render(text).split())


def test_a_wrapped_page_says_the_same_in_shorter_lines():
    page = wrapping.wrapped(LONG_PAGE)
    assert rendered(page) == rendered(LONG_PAGE)
    assert wrapping.long_lines(page) == []
    long = [line for line in page.splitlines() if len(line) > wrapping.WIDTH]
    assert [line.split()[0] for line in long] == ["#", "|", "<!--", "some", "some"]
    assert "short\nlines stay\n" in page
    assert wrapping.wrapped(page) == page


def test_long_lines_are_named():
    named = wrapping.long_lines(LONG_PAGE)
    assert [line.split()[0] for line in named] == ["some", "-", "1."]


def test_a_long_word_has_a_line_of_its_own():
    page = f"see {'x' * 200} there\n"
    assert wrapping.wrapped(page).splitlines() == ["see", "x" * 200, "there"]
    assert wrapping.long_lines(wrapping.wrapped(page)) == []
