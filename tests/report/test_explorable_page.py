"""The page that one can explore: self-contained, small, safe, with pictures for print."""

import re
from html.parser import HTMLParser

import pytest
from evil_report import reported

from prssm.foundation.errors import MissingExtraError, PrssmWarning
from prssm.report import explorable
from prssm.report.fit import findings
from prssm.report.fit import page as page_module

LIMIT = 5_000_000


class Tags(HTMLParser):
    """Start tags with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.styles = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] += data
        if self._open == "style":
            self.styles += data


@pytest.fixture(scope="module")
def page(explorable_page) -> Tags:
    return Tags(explorable_page.read_text(encoding="utf-8"))


def test_the_library_is_inside_and_nothing_is_fetched(page, explorable_page) -> None:
    assert explorable_page.stat().st_size < LIMIT
    assert max(map(len, page.scripts)) > 1_000_000
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "data", "action", "srcset"):
            assert attributes.get(name, "#").startswith(("data:", "#")), (tag, attributes)


def test_names_stay_text(page) -> None:
    assert all("onerror" not in attributes for _, attributes in page.tags)
    assert len(page.scripts) == 3  # library, its log level, figures: no name has ended one
    assert "<img" not in page.scripts[2]


def test_every_figure_has_a_picture_that_is_printed_instead(page) -> None:
    groups = [a for tag, a in page.tags if a.get("class") == "explore"]
    stills = [a for tag, a in page.tags if tag == "img" and a.get("class") == "still"]
    assert len(groups) == len(stills) >= 14
    assert [a["aria-label"] for a in groups] == [a["alt"] for a in stills]
    assert "step responses with band" in {a["alt"] for a in stills}
    printed = re.search(r"@media print \{ (\.still.*?\}) \}", page.styles)
    assert printed is not None
    assert "display: block" in printed[1]
    assert ".explore, .on-screen { display: none; }" in printed[1]
    assert any(tag == "noscript" for tag, _ in page.tags)


def test_a_long_recording_stays_under_the_limit(tmp_path, monkeypatch) -> None:
    pytest.importorskip("bokeh", reason="needs the extra interactive")
    monkeypatch.setattr(findings, "residuals_of", lambda *_: "not of so many rows in a test")
    path = reported(tmp_path / "long.html", rows=100_000)
    assert 2_000_000 < path.stat().st_size < LIMIT
    assert "data:image/png" in path.read_text(encoding="utf-8")


def test_data_of_figures_is_thinned_until_it_is_small_enough(monkeypatch) -> None:
    pytest.importorskip("bokeh", reason="needs the extra interactive")
    from prssm.report.interactive.embedding import Embedded

    asked = []

    def figures(_, rows=4000):
        asked.append(rows)
        return {}

    sizes = iter([1.8, 1.4, 0.8])
    monkeypatch.setattr("prssm.report.fit.exploring.explorable_figures", figures)
    monkeypatch.setattr(
        "prssm.report.interactive.embedding.embedded",
        lambda _: Embedded("", {}, "x" * int(next(sizes) * page_module.MOST_DATA)),
    )
    page_module._explored(None, static=False)
    assert asked == [4000, 2000, 1285]


def test_without_bokeh_there_are_pictures_and_one_line_says_why(monkeypatch) -> None:
    monkeypatch.setattr(explorable, "find_spec", lambda name: None)
    with pytest.warns(PrssmWarning, match=r"pictures; .*pip install 'prssm\[interactive\]'"):
        assert page_module._explored(None, static=False) is None
    with pytest.raises(MissingExtraError, match=r"prssm\[interactive\]"):
        explorable.need_bokeh()


def test_static_asks_for_pictures_without_a_word(recwarn) -> None:
    assert page_module._explored(None, static=True) is None
    assert not len(recwarn)
