"""The page, the picture and the tables of a search."""

import csv
import re
from html.parser import HTMLParser

import pytest
import search_fakes

from prssm.evaluation.search.final import refit
from prssm.evaluation.search.search import search
from prssm.report.search.figures import draw_search
from prssm.report.search.page import write_pages
from prssm.report.search.tables import chosen_table, found_table, unfinished_table, verdict, warning


@pytest.fixture
def found(monkeypatch, tmp_path):
    search_fakes.install(monkeypatch)
    over = [
        "method=fake,constant",
        "level=0,1",
        "behave=well,raise",
        "rate=0.1..0.3:0.1",
        "seed=0..1",
    ]
    return search(search_fakes.toy(), over, out=tmp_path)


def test_the_best_comes_first_and_the_simple_model_last(found):
    table = found_table(found)
    assert list(table.header[:6]) == ["", "method", "level", "behave", "rate", "seeds"]
    rmse = [row[6] for row in table.rows[:-1]]
    assert rmse == sorted(rmse)
    assert table.rows[-1][0] == "constant"
    assert table.rows[1][1:6] == ["fake", "0", "well", "0.1", "2 of 2"]
    # the mean over the predictions 0 and 0.01
    assert rmse[1] == pytest.approx(0.5 + 0.5 * 1.0001**0.5)
    short = found_table(found, 2)
    assert len(short.rows) == 3
    assert "(first 2 of 7)" in short.title
    assert warning(found) == "no configuration beats the constant model on the held-out data"


def test_what_failed_is_told_with_its_reason(found):
    table = unfinished_table(found)
    assert len(table.rows) == 12
    assert table.rows[0][1:] == ["failed", "ZeroDivisionError: no luck"]
    assert verdict(found.records[-1]).startswith("held-out RMSE ") or verdict(
        found.records[-1]
    ).startswith("failed: ")


def test_all_files_are_written_and_the_page_stands_alone(found, tmp_path, monkeypatch):
    drawn = []

    def counted(found):
        drawn.append(found)
        return draw_search(found)

    monkeypatch.setattr("prssm.report.search.page.draw_search", counted)
    chosen = refit(tmp_path, found.best, [search_fakes.toy()], test=[search_fakes.toy(40)])
    page, picture, table = write_pages(tmp_path, found, chosen, "prssm search <log> --over ...")
    assert len(drawn) == 1
    text = page.read_text()
    HTMLParser().feed(text)
    assert "prssm search &lt;log&gt;" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "ZeroDivisionError" in text
    # the constant itself was chosen
    assert [row[0] for row in chosen_table(chosen).rows] == ["constant"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 27  # 12 + 12 of the fake, 2 of the constant, 1 for comparison
    assert {row["level"] for row in rows if row["method"] == "constant"} == {""}


def test_the_figure_has_a_panel_for_each_option_and_the_best_so_far(monkeypatch, tmp_path):
    search_fakes.install(monkeypatch)
    found = search(
        search_fakes.toy(),
        ["rate=0.001..1:log", "level=0..3"],
        out=tmp_path,
        method="fake",
        trials=8,
    )
    course, rate, level = draw_search(found).axes
    (best,) = [line for line in course.lines if line.get_label() == "best so far"]
    scores = [record["metrics"]["nrmse"] for record in found.records if not record["baseline"]]
    assert list(best.get_ydata()) == [*(min(scores[: i + 1]) for i in range(8)), min(scores)]
    assert (rate.get_xscale(), rate.get_xlabel(), level.get_xlabel()) == ("log", "rate", "level")
