"""A studio in a process of its own, and a page that looks at it."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from browser import Watched


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


class Look(Watched):
    """A page of the studio, with what went wrong in it."""

    def __init__(self, browser: Any, width: int = 1280) -> None:
        super().__init__(browser, viewport={"width": width, "height": 900})
        self.page.set_default_timeout(45_000)

    def step(self, name: str) -> None:
        """Go to one of the four steps."""
        self.page.click(f"nav button[data-step={name}]")

    def is_too_wide(self) -> bool:
        """Whether the page must be scrolled sideways."""
        wide, seen = self.page.evaluate(
            "() => [document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"
        )
        return wide > seen
