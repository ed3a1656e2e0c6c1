"""Runs inside of SIPPY's environment: N4SID, MOESP and CVA on one task; see studies/subspace.py.

Words of the command line: the task's file, the answer's file, seconds. Orders 1 to 20 compete on
the last quarter of the training part, for each method; see benchmarks/peers/.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "benchmarks" / "peers"))

import adapter
import with_sippy

ORDERS = range(1, 21)


def main() -> None:
    source, target, seconds = sys.argv[1:4]
    data = np.load(source)
    found = {}
    for method in with_sippy.METHODS:
        end = time.monotonic() + float(seconds)
        task = adapter.Task(data["u"], data["y"], len(data["y_start"]), end)
        begun = time.process_time()
        choices = [(method, order) for order in ORDERS]
        choice = adapter.best_of(task, choices, with_sippy.train, with_sippy.simulate)
        model, centre = with_sippy.train(choice, task.u, task.y)
        found[f"{method} seconds"] = time.process_time() - begun
        run = with_sippy.simulate((model, centre), data["u_test"], data["y_start"])
        found[f"{method} run"] = run
        for name in "ABCD":
            found[f"{method} {name}"] = getattr(model, name)
        found[f"{method} u"], found[f"{method} y"] = centre
    np.savez(target, **found)


if __name__ == "__main__":
    main()
