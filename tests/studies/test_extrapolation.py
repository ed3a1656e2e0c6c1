"""The study of warnings: its systems, and its figures from counts."""

import numpy as np
from extrapolation import RANDOM, records, table, verdict


def run(bad: int, flagged: int, both: int, warned: bool) -> dict:
    return {"rows": 100, "bad": bad, "flagged": flagged, "bad_flagged": both, "warned": warned}


ROWS = [
    {"system": "a", "runs": {"same": run(0, 4, 0, False), "larger": run(20, 60, 18, True)}},
    {"system": "b", "runs": {"same": run(10, 20, 5, True), "larger": run(40, 80, 40, True)}},
]


def test_shares_are_those_of_the_counts() -> None:
    lines = table(ROWS).splitlines()
    cells = {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:-1]] for line in lines
    }
    assert cells["same"] == ["2", "5%", "50%", "12%", "50%"]
    assert cells["larger"] == ["2", "30%", "97%", "70%", "100%"]
    assert cells["outside"] == cells["larger"]
    assert cells["all"] == ["4", "18%", "90%", "41%", "75%"]
    assert "Of 3 warned runs 67% had other inputs" in verdict(ROWS)
    assert "of 3 runs with more than 5% bad rows 100%" in verdict(ROWS)


def test_each_way_moves_the_inputs_of_the_same_system() -> None:
    train, runs = records("random101")
    assert list(runs) == list(RANDOM)
    assert runs["much larger"].u.std() > 2.0 * runs["same"].u.std()
    assert np.ptp(runs["same"].u) < 1.5 * np.ptp(train.u)
