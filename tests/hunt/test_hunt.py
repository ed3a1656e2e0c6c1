"""A small part of the hunt in every test run: some damaged inputs of each reader, and all that was
ever found.
"""

import os
import subprocess
import sys

from hunt.corpus import CORPUS
from hunt.disk import hunt_disk
from hunt.inputs import TESTS, hunt_inputs
from hunt.readers import READERS

EACH = 12  # damaged inputs of each reader; `make hunt` tries thousands


def test_damaged_inputs_are_refused_in_one_line():
    cases = [("corpus", name) for name in CORPUS]
    cases += [(name, str(seed)) for name in READERS for seed in range(EACH)]
    tally = hunt_inputs(cases)
    assert not tally.violations
    assert tally.total == len(cases)


def test_a_full_disk_loses_nothing(tmp_path):
    assert not hunt_disk(tmp_path)


def test_a_crowd_gets_the_same_bits():
    """In a process of its own, because it forks, which is safe before JAX has computed only."""
    path = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "hunt", "crowd"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stdout
