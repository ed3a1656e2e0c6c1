"""The explorable page in a real browser: drawn, silent, by keyboard, on a phone, in print."""

import pytest
from browser import Watched, headless
from evil_report import EVIL

IDLE = "window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents[0].is_idle"
RANGE = """() => {
  const figures = [...Bokeh.documents[0]._all_models.values()].filter(m => m.type == "Figure");
  return [figures[0].x_range.start, figures[0].x_range.end];
}"""
FOCUSED = """() => {
  let e = document.activeElement;
  while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
  return e ? e.title : "";
}"""


@pytest.fixture(scope="module")
def watched(explorable_page):
    with headless() as browser:
        watched = Watched(browser, viewport={"width": 1280, "height": 800})
        watched.page.goto(explorable_page.as_uri())
        watched.page.wait_for_function(IDLE, timeout=120_000)
        yield watched
        assert watched.wrong == []
        assert watched.asked == []


def test_figures_are_drawn_and_names_are_text(watched) -> None:
    page = watched.page
    assert page.title() == EVIL
    assert page.locator(".explore canvas").count() >= 14
    assert not page.locator("img.still").first.is_visible()


def test_the_keyboard_zooms_and_resets(watched) -> None:
    page = watched.page
    before = page.evaluate(RANGE)
    page.locator("nav a").last.focus()
    for name, changes in (("Zoom In (x-axis)", True), ("Reset", False)):
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate(FOCUSED) == name:
                break
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        assert (page.evaluate(RANGE) != before) is changes, name


def test_a_phone_needs_no_sideways_scrolling(watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size({"width": 1280, "height": 800})


def test_nothing_stands_in_the_way_of_people_who_cannot_see(watched) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    found = axe.Axe().run(watched.page).response["violations"]
    assert [v["id"] for v in found if {"wcag2a", "wcag2aa"} & set(v["tags"])] == []


def test_pictures_are_printed(watched) -> None:
    page = watched.page
    page.emulate_media(media="print")
    stills = page.locator("img.still")
    assert stills.count() >= 14
    assert all(stills.nth(i).is_visible() for i in range(stills.count()))
    assert not page.locator(".explore").first.is_visible()
    page.emulate_media(media="screen")
