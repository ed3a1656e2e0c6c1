"""The address of a studio in tests, and a small log for it."""

import numpy as np

TOKEN = "a-secret-word"
PORT = 8123
ADDRESS = f"http://127.0.0.1:{PORT}"
ROWS = 400


def first_order(rows: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    """A log of y' = 0.9 y + 0.1 u with a little noise, driven by random steps."""
    noise = np.random.default_rng(seed)
    u = np.repeat(noise.normal(size=rows // 10), 10)
    y = np.zeros(rows)
    for row in range(1, rows):
        y[row] = 0.9 * y[row - 1] + 0.1 * u[row - 1]
    return {"time": np.arange(rows) * 0.1, "u": u, "y": y + 0.01 * noise.normal(size=rows)}
