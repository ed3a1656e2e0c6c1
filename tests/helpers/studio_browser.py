"""A studio in a process of its own, and Chromium to look at it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """The system's browser, if it has one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def launched(playwright: Playwright) -> Browser:
    """The browser without a window; as root it cannot have its own sandbox."""
    arguments = ["--disable-gpu", "--disable-quic", "--disable-background-networking"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return playwright.chromium.launch(executable_path=chromium(), args=arguments)


class Server:
    """`prssm studio` on a project; `address` is what it has printed."""

    def __init__(self, project: Path, *words: str) -> None:
        self._said = project.parent / "said.txt"
        self._said.write_bytes(b"")
        with self._said.open("wb") as out:
            told = [*words, f"--project={project}", "--no-browser"]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prssm", "studio", *told],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.address = self._wait()

    def _wait(self) -> str:
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"studio: (http\S+)", self.said())
            if found:
                return found[1]
            time.sleep(0.05)
        raise AssertionError(f"the studio did not start: {self.said()}")

    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def kill(self) -> None:
        """As a crash would: nothing is saved, nobody is told."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)


class Look:
    """A page with what went wrong in it."""

    def __init__(self, browser: Browser, width: int = 1280) -> None:
        self.page: Page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
        self.page.set_default_timeout(45_000)
        self.errors: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _hear(self, message: object) -> None:
        if message.type == "error":  # type: ignore[attr-defined]
            self.errors.append(message.text)  # type: ignore[attr-defined]

    def step(self, name: str) -> None:
        """Go to one of the four steps."""
        self.page.click(f"nav button[data-step={name}]")

    def is_too_wide(self) -> bool:
        """Whether the page must be scrolled sideways."""
        wide, seen = self.page.evaluate(
            "() => [document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"
        )
        return wide > seen
