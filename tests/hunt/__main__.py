"""`python -m hunt inputs --cases 10000`, `python -m hunt kills --count 300`, ...: see --help."""

import argparse
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from hunt import inputs


def main() -> int:
    parser = argparse.ArgumentParser(prog="hunt", description=__doc__)
    parser.add_argument("what", choices=(*PARTS, "all"))
    parser.add_argument("--cases", type=int, default=2000, help="damaged inputs in all")
    parser.add_argument("--count", type=int, default=30, help="kills and signals in all")
    parser.add_argument("--minutes", type=float, default=1e9, help="of kills, at most")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--only", help="one reader, or one kind of kill")
    words = parser.parse_args()
    parts = list(PARTS) if words.what == "all" else [words.what]
    return max(PARTS[part](words) for part in parts)


def damaged_inputs(words: argparse.Namespace) -> int:
    from hunt.corpus import CORPUS
    from hunt.readers import READERS

    names = [words.only] if words.only else list(READERS)
    damaged = ((name, str(words.seed + turn)) for turn in range(words.cases) for name in names)
    cases = [("corpus", name) for name in CORPUS if not words.only or words.only == "corpus"]
    if words.only != "corpus":
        cases += islice(damaged, words.cases)
    begun = time.monotonic()
    tally = inputs.hunt_inputs(cases)
    print(f"{'reader':<12}{'cases':>7}{'refused':>9}{'read':>7}{'violations':>12}")
    for name, counts in tally.outcomes.items():
        row = (counts.total(), counts["refused"], counts["ok"], counts["violation"])
        print(f"{name:<12}{row[0]:>7}{row[1]:>9}{row[2]:>7}{row[3]:>12}")
    print(
        f"in {time.monotonic() - begun:.0f} s; the slowest case took {tally.slowest:.1f} s, ",
        end="",
    )
    print(f"the largest {tally.largest:.2f} GB")
    return _told(tally.violations)


def kills(words: argparse.Namespace) -> int:
    from hunt.kills import hunt_kills

    begun = time.monotonic()
    tally = hunt_kills(words.count, words.seed, words.only, words.minutes)
    for name, count in tally.counts.items():
        print(f"{name:<12}{count:>5} kills and signals")
    print(
        f"{sum(tally.counts.values())} in all, {tally.chains} results compared, in "
        f"{time.monotonic() - begun:.0f} s; {tally.signals} signals, answered within "
        f"{tally.slowest:.1f} s"
    )
    return _told(tally.violations)


def starts(words: argparse.Namespace) -> int:
    from hunt.starts import hunt_starts

    tally = hunt_starts(words.count, words.seed)
    print(f"{tally.ended} programs stopped, {tally.before} before their first line")
    return _told(tally.violations)


def disk(words: argparse.Namespace) -> int:
    from hunt.disk import TROUBLES, WRITERS, hunt_disk

    with tempfile.TemporaryDirectory() as folder:
        violations = hunt_disk(Path(folder))
    print(f"{len(WRITERS)} writers, each {', '.join(TROUBLES)}")
    return _told(violations)


def crowd(words: argparse.Namespace) -> int:
    from hunt.crowd import CROWD, hunt_crowd

    with tempfile.TemporaryDirectory() as folder:
        violations = hunt_crowd(Path(folder))
    print(f"{len(CROWD)} scenes: {', '.join(scene.__name__ for scene in CROWD)}")
    return _told(violations)


def _told(violations: list[str]) -> int:
    for line in violations[:200]:
        print(f"VIOLATION {line}")
    print(f"{len(violations)} violations")
    return int(bool(violations))


PARTS = {"inputs": damaged_inputs, "disk": disk, "crowd": crowd, "kills": kills, "starts": starts}

if __name__ == "__main__":
    sys.exit(main())
