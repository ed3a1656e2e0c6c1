"""How fluid the studio is with a long log: the first plot, and a zoom, in a real browser.

    python benchmarks/studio.py                  # 100,000 rows, six columns
    python benchmarks/studio.py --rows 1000000

The first plot is timed from opening the address to the drawn picture; a zoom from the click to the
picture that shows its rows. The server has just been started and the browser has no cache. A zoom
is also timed in the server alone: the rows are cut, thinned and packed.

Wall times grow with what else the machine does. The slow-down, wall time over CPU time of a plain
loop just before and after, says by how much; divided by it, they are those of an idle machine.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from browser import headless
from studio_browser import Look, Server

from prssm.data.io.files import write_columns
from prssm.studio.figures.windows import packed_window

ZOOMS = 20
# Clicks a button and waits for the rows that it asks for; milliseconds.
CLICK = """async (words) => {
  const place = document.querySelector(".picture[data-ready]");
  const before = place.dataset.rows;
  const begun = performance.now();
  document.querySelector(`button[aria-label="${words}"]`).click();
  while (place.dataset.rows === before) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""


def log_of(rows: int, file: Path) -> dict[str, np.ndarray]:
    """A log with a time, two inputs and three outputs."""
    noise = np.random.default_rng(0)
    walk = np.cumsum(noise.normal(size=(rows, 3)), axis=0)
    columns = {
        "time": np.arange(rows) * 0.01,
        "u1": np.repeat(noise.normal(size=rows // 100 + 1), 100)[:rows],
        "u2": noise.normal(size=rows),
        **{f"y{i + 1}": walk[:, i] for i in range(3)},
    }
    write_columns(file, columns)
    return columns


def slow_down(seconds: float = 0.3) -> float:
    """Wall time over CPU time of a loop that only computes: 1 on an idle machine."""
    begun = time.perf_counter()
    spent = time.process_time()
    while time.process_time() - spent < seconds:
        pass
    return (time.perf_counter() - begun) / (time.process_time() - spent)


def in_browser(folder: Path, file: Path) -> tuple[float, list[float]]:
    """Seconds to the first plot, and milliseconds of each zoom."""
    server = Server(folder / "project", str(file))
    try:
        with headless() as browser:
            look = Look(browser)
            begun = time.perf_counter()
            look.page.goto(server.address)
            look.page.wait_for_selector(".picture[data-ready]")
            first = time.perf_counter() - begun
            words = ["Zoom in", "Later rows", "Zoom in", "Earlier rows", "Zoom out", "Zoom out"]
            zooms = [look.page.evaluate(CLICK, words[i % len(words)]) for i in range(ZOOMS)]
    finally:
        server.stop()
    return first, zooms


def in_server(columns: dict[str, np.ndarray]) -> float:
    """Milliseconds of CPU for the rows of one zoom, the widest."""
    series = {name: values for name, values in columns.items() if name != "time"}
    rows = len(columns["time"])
    packed_window(series, 0, rows)
    begun = time.process_time()
    for begin in range(ZOOMS):
        packed_window(series, begin, rows)
    return 1000.0 * (time.process_time() - begun) / ZOOMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = log_of(rows, folder / "long.csv")
        before = slow_down()
        first, zooms = in_browser(folder, folder / "long.csv")
        slower = (before + slow_down()) / 2
    print(f"{rows} rows, 6 columns; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"| what | wall time | divided by the slow-down of {slower:.1f} |")
    print("|---|---:|---:|")
    print(f"| first plot | {first:.2f} s | {first / slower:.2f} s |")
    middle = statistics.median(zooms)
    print(f"| zoom, middle of {ZOOMS} | {middle:.0f} ms | {middle / slower:.0f} ms |")
    print(f"| zoom, slowest | {max(zooms):.0f} ms | {max(zooms) / slower:.0f} ms |")
    print(f"| zoom, CPU of the server | | {in_server(columns):.0f} ms |")


if __name__ == "__main__":
    main()
