"""The studio in a real browser: one project, walked through as a person would, in this order.

The tests of this file build on each other: a log is loaded, a model trained, compared and taken
away; then the server is killed and started again.
"""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import headless
from studio_browser import Look, Server
from studio_log import first_order

from prssm.data.io.files import write_columns

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

HOSTILE = "<img src=x onerror=document.title='hacked'>"
QUICK = {"order": "1", "starts": "1", "random starts": "0"}
LEVEL_A = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag21a"]}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("browser")
    write_columns(made / "plant.csv", first_order())
    log = first_order(100, seed=1)
    log[HOSTILE] = log.pop("u")
    write_columns(made / "odd.csv", log)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator:
    playwright.expect.set_options(timeout=45_000)  # machines that test are busy
    with headless() as opened:
        yield opened


@pytest.fixture(scope="module")
def servers(folder: Path, browser) -> Iterator[list[Server]]:
    """The servers that were started, the last one first."""
    started = [Server(folder / "project", str(folder / "plant.csv"))]
    yield started
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def look(browser, servers: list[Server]) -> Look:
    seen = Look(browser)
    seen.page.goto(servers[0].address)
    return seen


@pytest.fixture(autouse=True)
def no_errors_in_the_console(look: Look) -> Iterator[None]:
    yield
    assert look.wrong == []


def wait(look: Look, selector: str) -> None:
    look.page.wait_for_selector(selector, state="attached")


def test_the_address_keeps_no_secret_and_the_log_is_shown(look: Look) -> None:
    wait(look, ".picture[data-ready='2']")
    assert "token" not in look.page.url
    assert look.page.get_by_label("Use of u").input_value() == "input"


def test_ranges_show_what_differs_however_large_the_offset(look: Look) -> None:
    found = look.page.evaluate(
        """async () => {
            const { within } = await import("/page/tools/dom.js");
            return [within(999999.25, 999999.25, 1000000.75, 4), within(0.1234567, -1, 1),
                within(5, 5, 5)];
        }"""
    )
    assert found == ["999999.25", "0.123", "5"]


def test_zooming_asks_for_the_visible_rows(look: Look) -> None:
    look.page.get_by_role("button", name="Zoom in").click()
    wait(look, ".picture[data-rows='100-299']")
    look.page.get_by_role("button", name="Show all rows").click()
    wait(look, ".picture[data-rows='0-399']")


def test_parts_are_chosen_by_dragging_and_by_typing(look: Look) -> None:
    page = look.page
    page.get_by_label("What dragging on the picture does").select_option("training")
    box = page.locator(".picture[data-ready]").bounding_box()
    page.mouse.move(box["x"] + 150, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 60, steps=4)
    page.mouse.up()
    first = page.get_by_label("Rows that train, stretch 1, from row")
    playwright.expect(first).not_to_have_value("0")
    assert int(first.input_value()) > 20
    first.fill("0")
    first.blur()
    last = page.get_by_label("Rows that train, stretch 1, up to row")
    last.fill("280")
    save_by(look, "[[0,280]]", last.blur)
    page.reload()  # the choice is kept by the server
    playwright.expect(last).to_have_value("280")
    playwright.expect(first).to_have_value("0")


def test_what_is_typed_outlives_the_answer_to_what_was_typed_before(look: Look) -> None:
    """The server's answer draws the fields again; it may come while a person is in the next one."""
    page = look.page
    first = page.get_by_label("Rows that train, stretch 1, from row")
    last = page.get_by_label("Rows that train, stretch 1, up to row")
    held: list = []
    page.route("**/choice", lambda route: held.append(route))
    first.fill("10")
    with page.expect_request("**/choice"):
        first.press("Tab")
    page.keyboard.type("270")
    last.evaluate("element => { element.dataset.before = 'yes'; }")
    held[0].continue_()
    playwright.expect(last).not_to_have_attribute("data-before", "yes")
    page.unroute("**/choice")
    assert has_focus(last)
    playwright.expect(last).to_have_value("270")
    save_by(look, "[[10,270]]", lambda: page.keyboard.press("Tab"))
    for field, rows in ((first, "[[0,270]]"), (last, "[[0,280]]")):
        field.fill("0" if field is first else "280")
        save_by(look, rows, field.blur)


def save_by(look: Look, words: str, act: Callable[[], None]) -> None:
    """Do something that makes the page save these words."""
    with look.page.expect_response(lambda one: words in (one.request.post_data or "")):
        act()


def test_a_file_is_loaded_and_hostile_names_are_text(look: Look, folder: Path) -> None:
    page = look.page
    page.set_input_files("#file", str(folder / "odd.csv"))
    row = page.get_by_role("rowheader", name=HOSTILE)
    playwright.expect(row).to_be_visible()
    wait(look, ".picture[data-ready]")
    assert page.title() == "prssm studio"
    page.get_by_role("button", name="plant.csv", exact=True).click()
    playwright.expect(page.get_by_label("Use of u")).to_have_value("input")


def test_preprocessing_is_seen_before_it_is_used(look: Look) -> None:
    page = look.page
    page.get_by_label("Step", exact=True).select_option("lowpass")
    page.get_by_label("Value").fill("1Hz")
    page.get_by_role("button", name="Add", exact=True).click()
    wait(look, ".picture[data-steps='1']")
    page.get_by_role("button", name="Remove lowpass=1Hz").click()
    playwright.expect(page.get_by_role("button", name="Remove lowpass=1Hz")).to_have_count(0)


def test_a_model_is_trained_with_the_keyboard_alone_and_a_reload_in_the_middle(
    look: Look,
) -> None:
    page = look.page
    page.locator("nav button[data-step=train]").focus()
    page.keyboard.press("Enter")
    method = page.get_by_label("Method")
    playwright.expect(method).to_be_visible()
    tab_to(look, method)
    page.keyboard.press("L")  # a select takes the first letter
    playwright.expect(method).to_have_value("linear")
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    for name, value in QUICK.items():
        page.get_by_label(name, exact=True).focus()
        page.keyboard.type(value)
    page.keyboard.press("Enter")
    wait(look, "[data-job='linear-1']")
    page.reload()
    wait(look, "[data-job='linear-1'][data-state='done']")
    wait(look, ".picture[data-model='linear-1']")


def tab_to(look: Look, wanted, key: str = "Tab", most: int = 40) -> None:
    """Press the tabulator until this element has the focus."""
    for _ in range(most):
        if has_focus(wanted):
            return
        look.page.keyboard.press(key)
    raise AssertionError(f"{wanted} cannot be reached with the keyboard")


def has_focus(element) -> bool:
    return element.evaluate("element => element === document.activeElement")


def test_a_job_that_dies_shows_why(look: Look) -> None:
    page = look.page
    page.get_by_label("Method").select_option("linear")
    page.locator("summary").click()
    page.get_by_label("order", exact=True).fill("99999")
    page.get_by_label("order", exact=True).blur()
    page.get_by_role("button", name="Start training").click()
    wait(look, "[data-job='linear-2'][data-state='failed']")
    assert "order" in page.locator("[data-job='linear-2'] p").inner_text()
    page.get_by_role("button", name="Remove linear-2").click()
    playwright.expect(page.locator("[data-job='linear-2']")).to_have_count(0)


def test_models_are_compared(look: Look) -> None:
    page = look.page
    look.step("compare")
    wait(look, ".stack[data-view='runs']")
    assert page.get_by_role("rowheader", name="linear-1").count() == 1
    for view in ("residuals", "behaviour", "states"):
        page.click(f".tabs button[data-view={view}]")
        wait(look, f".stack[data-view='{view}'] canvas, .stack[data-view='{view}'] .bk-Figure")


def test_what_if_answers_what_is_typed_and_drawn(look: Look) -> None:
    page = look.page
    page.click(".tabs button[data-view=whatif]")
    wait(look, ".picture[data-draws='1']")
    page.get_by_label("u: to", exact=True).fill("0.5")
    page.get_by_label("u: to", exact=True).blur()
    wait(look, ".picture[data-draws='2']")
    page.get_by_label("Shape of u").select_option("points")
    wait(look, ".picture[data-draws='3']")
    box = page.locator("svg.draw").bounding_box()
    page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 20)
    wait(look, ".picture[data-draws='4']")
    assert page.locator("svg.draw ellipse").count() == 5


def test_models_are_compared_with_the_keyboard_alone(look: Look) -> None:
    """What was pressed keeps the focus, so that the next key goes on from there."""
    page = look.page
    look.page.reload()
    button = page.get_by_role("button", name="Compare")
    tab_to(look, button)
    page.keyboard.press("Enter")
    wait(look, ".stack[data-view='runs']")
    rows = page.get_by_role("button", name="Training", exact=True)
    tab_to(look, rows)
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_label("up to row")).to_have_value("280")
    assert has_focus(rows)
    responses = page.get_by_role("button", name="Responses")
    tab_to(look, responses)
    page.keyboard.press("Enter")
    wait(look, ".stack[data-view='behaviour']")
    assert has_focus(responses)
    impulse = page.get_by_role("button", name="Impulse")
    tab_to(look, impulse)
    page.keyboard.press("Enter")
    playwright.expect(impulse).to_have_attribute("aria-pressed", "true")
    wait(look, ".stack[data-view='behaviour']")
    assert has_focus(impulse)


def test_what_if_is_asked_with_the_keyboard_alone(look: Look) -> None:
    page = look.page
    page.locator(".tabs button[data-view=slices]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait(look, ".picture[data-draws='1']")
    shape = page.get_by_label("Shape of u")
    tab_to(look, shape)
    page.keyboard.press("r")  # a ramp: a select takes the first letter
    wait(look, ".picture[data-draws='2']")
    assert has_focus(shape)
    page.keyboard.press("Tab")
    page.keyboard.type("0.1")
    page.keyboard.press("Tab")
    wait(look, ".picture[data-draws='3']")
    assert has_focus(page.get_by_label("u: to", exact=True))
    tab_to(look, shape, "Shift+Tab")
    page.keyboard.press("d")  # drawn points
    points = page.get_by_text("Points as numbers")
    tab_to(look, points)
    page.keyboard.press("Enter")
    value = page.get_by_label("u: value of point 1")
    tab_to(look, value)
    page.keyboard.press("Control+A")
    page.keyboard.type("0.3")
    page.keyboard.press("Tab")
    remove = page.get_by_role("button", name="Remove point 1")
    assert has_focus(remove)
    playwright.expect(value).to_have_value("0.3")
    more = page.get_by_role("button", name="Add a point")
    tab_to(look, more)
    before = page.locator("svg.draw ellipse").count()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("svg.draw ellipse")).to_have_count(before + 1)
    assert has_focus(more)
    last = page.get_by_role("button", name=f"Remove point {before + 1}")
    page.keyboard.press("Shift+Tab")
    assert has_focus(last)
    page.keyboard.press("Enter")
    playwright.expect(page.locator("svg.draw ellipse")).to_have_count(before)
    assert not page.evaluate("() => document.activeElement === document.body")


def test_what_one_takes_away(look: Look, folder: Path) -> None:
    page = look.page
    look.step("take")
    command = page.locator("#command")
    playwright.expect(command).to_contain_text("prssm fit")
    words = shlex.split(command.inner_text())
    assert "--rows=0:280" in words
    page.get_by_role("button", name="c", exact=True).click()
    link = page.get_by_role("link", name="Save linear-1-c.zip")
    with page.expect_download() as saved:
        link.click()
    assert saved.value.suggested_filename == "linear-1-c.zip"
    assert (folder / "project" / "exports" / "linear-1-c.zip").is_file()


@pytest.mark.parametrize("width", [1280, 400])
def test_every_step_is_accessible_and_fits(look: Look, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    look.page.set_viewport_size({"width": width, "height": 900})
    for step in ("load", "train", "compare", "take"):
        look.step(step)
        look.page.wait_for_timeout(700)
        assert not look.is_too_wide(), step
        found = Axe().run(look.page, options=LEVEL_A).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], step
    look.page.set_viewport_size({"width": 1280, "height": 900})


def test_a_killed_server_is_started_again_and_goes_on(
    look: Look, browser, servers: list[Server], folder: Path
) -> None:
    look.step("train")
    look.page.get_by_label("Method").select_option("linear")
    look.page.get_by_role("button", name="Start training").click()
    wait(look, "[data-job='linear-2'][data-state='running']")
    servers[0].kill()
    playwright.expect(look.page.locator("#message")).to_contain_text("does not answer")
    look.page.close()
    look.wrong.clear()  # a page without its server has every right to complain
    servers.insert(0, Server(folder / "project"))
    later = Look(browser)
    later.page.goto(f"{servers[0].address}")
    later.step("train")
    wait(later, "[data-job='linear-1'][data-state='done']")
    wait(later, "[data-job='linear-2'][data-state='done']")
    assert later.wrong == []
