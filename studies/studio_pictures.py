"""The pictures of docs/how-to/studio.md: each step of the studio on simulated electric drives.

    python studies/studio_pictures.py            # two minutes; writes docs/figures/studio-*.png

It starts a studio in a folder of its own, trains a linear model and a PR-SSM as a person would, and
takes the pictures in a headless Chromium.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from browser import headless  # noqa: E402
from studio_browser import Look, Server  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
BUDGET = "40"  # seconds for the PR-SSM
COLOURS = 64  # of a picture: enough for a page, and small files
PATIENCE = 300_000  # milliseconds that training may take on a busy machine


def save(look: Look, name: str) -> None:
    """The whole page as a small file."""
    page = look.page
    page.mouse.move(0, 0)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.wait_for_timeout(1500)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    path = FIGURES / f"studio-{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def load(look: Look) -> None:
    look.page.wait_for_selector(".picture[data-ready]")
    look.page.get_by_role("button", name="First 70 % train").click()
    save(look, "load")
    look.page.get_by_label("What is scored", exact=True).select_option("log")
    look.page.wait_for_timeout(1000)


def train(look: Look) -> None:
    page = look.page
    look.step("train")
    for method in ("linear", "prssm"):
        page.get_by_label("Method").select_option(method)
        if method == "prssm":
            page.get_by_label("Seconds at most").fill(BUDGET)
            page.get_by_label("Seconds at most").blur()
        page.get_by_role("button", name="Start training").click()
        page.wait_for_selector(f"[data-job={method}-1]")
    page.wait_for_selector("[data-job=prssm-1][data-state=done]", timeout=PATIENCE)
    page.get_by_role("button", name="Show prssm-1").click()
    page.wait_for_selector(".picture[data-model=prssm-1]", timeout=PATIENCE)
    save(look, "train")


def compare(look: Look) -> None:
    look.step("compare")
    look.page.wait_for_selector(".stack[data-view=runs]", timeout=PATIENCE)
    save(look, "compare")
    look.page.click(".tabs button[data-view=whatif]")
    look.page.get_by_label("Shape of voltage").select_option("points")
    look.page.wait_for_selector(".picture[data-draws]", timeout=PATIENCE)
    look.page.wait_for_timeout(3000)
    save(look, "what-if")


def take(look: Look) -> None:
    look.step("take")
    look.page.wait_for_selector("#command")
    save(look, "take-away")


def walk(browser: Any, server: Server) -> None:
    look = Look(browser, width=1100)
    look.page.goto(server.address)
    for step in (load, train, compare, take):
        step(look)


def main() -> None:
    FIGURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="prssm-") as folder, headless() as browser:
        server = Server(Path(folder) / "drives", "drives_sim")
        try:
            walk(browser, server)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
