r"""Is the warning right? Models of simulated systems inside and outside of what they were shown.

    python studies/extrapolation.py --out runs/extrapolation
    python studies/extrapolation.py --out runs/extrapolation --report-only

A small model of each system runs over inputs like those in training, and over inputs that are
slower, faster, larger or shifted. A row is bad where an error is beyond three deviations of the
band. Printed: which share of the bad rows was flagged (`Prediction.outside`), which share of all
rows, and which runs were warned about. The limits were chosen on the systems 1 to 43; these are
others, and the package's own simulators. Recorded rows are not run again.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

# A model that takes a few seconds; what it learns less well, its band has to say.
SMALL = {"iterations": 400, "restarts": 3, "fold_restarts": 1, "complexity": "free", "folds": 3}
FIRST = 100  # number of the first random system
ROWS = 400
BAD = 3.0  # deviations
MANY_BAD = 0.05  # share of the rows of a run that its band has let down

# By name: how each input of a random system moves.
RANDOM: dict[str, Callable] = {
    "same": lambda move: move,
    "slower": lambda move: replace(move, pace=3.0 * move.pace),
    "faster": lambda move: replace(move, pace=move.pace / 3.0),
    "larger": lambda move: replace(move, size=1.5 * move.size),
    "much larger": lambda move: replace(move, size=2.5 * move.size),
    "shifted": lambda move: replace(move, offset=move.offset + 1.5),
}
# Physical parameters of the package's simulators.
SIMULATED: dict[str, dict[str, dict[str, float]]] = {
    "drives_sim": {"same": {}, "larger": {"high": 4.5}, "much larger": {"high": 6.0}},
    "tanks_sim": {"same": {}, "larger": {"pump_std": 1.8}, "shifted": {"pump_mean": 4.5}},
}
OUTSIDE = ("larger", "much larger", "shifted")


def records(name: str) -> tuple:
    """A recording to train on, and one for each way to move the inputs."""
    if name in SIMULATED:
        from prssm.data.simulators import simulate

        train = simulate(name, 600, 1, seed=0)[0]
        changes = SIMULATED[name].items()
        return train, {way: simulate(name, ROWS, 1, seed=9, **how)[0] for way, how in changes}
    from prssm.data.simulators.random_systems import random_recording

    number = int(name.removeprefix("random"))
    found = random_recording(number)
    runs = {
        way: found.again([move(one) for one in found.moves], ROWS, seed=1000 * number + i)
        for i, (way, move) in enumerate(RANDOM.items())
    }
    return found.train, runs


def study(name: str) -> dict:
    """Counts of rows for each run of one system."""
    from prssm import PRSSM
    from prssm.prediction.cautions import leaves

    train, runs = records(name)
    model = PRSSM(**SMALL).fit(train)
    found = {}
    for way, record in runs.items():
        run = model.free_runs([record])[0]
        bad = (np.abs(record.y - run.mean) > BAD * run.std).any(axis=1)
        found[way] = {
            "rows": len(bad),
            "bad": int(bad.sum()),
            "flagged": int(run.outside.sum()),
            "bad_flagged": int((bad & run.outside).sum()),
            "warned": leaves(run),
        }
    return {"system": name, "runs": found}


def share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def table(rows: list[dict]) -> str:
    """Markdown: a line for each way to move the inputs, then for all."""
    ways = dict.fromkeys(way for row in rows for way in row["runs"])
    groups = {way: [row["runs"][way] for row in rows if way in row["runs"]] for way in ways}
    groups["outside"] = [run for way in OUTSIDE for run in groups.get(way, [])]
    groups["all"] = [run for way in ways for run in groups[way]]
    head = ["inputs", "runs", "bad rows", "of these flagged", "rows flagged", "runs warned"]
    lines = [head, ["---"] * len(head)]
    for way, runs in groups.items():
        total = {key: sum(run[key] for run in runs) for key in ("rows", "bad", "flagged")}
        both = sum(run["bad_flagged"] for run in runs)
        warned = sum(run["warned"] for run in runs)
        line = [way, str(len(runs)), share(total["bad"], total["rows"]), share(both, total["bad"])]
        line += [share(total["flagged"], total["rows"]), share(warned, len(runs))]
        lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(rows: list[dict]) -> str:
    """How often the warning was right, in words."""
    runs = [(way, run) for row in rows for way, run in row["runs"].items()]
    warned = [way for way, run in runs if run["warned"]]
    moved = sum(way != "same" for way in warned)
    let_down = [run["warned"] for _, run in runs if run["bad"] > MANY_BAD * run["rows"]]
    return (
        f"Of {len(warned)} warned runs {share(moved, len(warned))} had other inputs than in "
        f"training; of {len(let_down)} runs with more than {MANY_BAD:.0%} bad rows "
        f"{share(sum(let_down), len(let_down))} were warned about."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=40, help="how many random systems")
    parser.add_argument("--out", type=Path, default=Path("runs/extrapolation"))
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    results = Results(options.out, "extrapolation.jsonl")
    names = [*SIMULATED, *(f"random{FIRST + i}" for i in range(options.systems))]
    if not options.report_only:
        for name in names:
            print(results.once(study, name)["system"], flush=True)
    rows = list(results.records.values())
    print(f"{table(rows)}\n\n{verdict(rows)}")


if __name__ == "__main__":
    main()
