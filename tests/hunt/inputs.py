"""Runs cases in children and counts: what was refused, what was read, what must not be."""

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 20.0
GIGABYTES = 2.0
_START_SECONDS = 120.0
TELLS_EVERY = 5000  # inputs, so that a hunt that is cut off has told how far it came
TESTS = Path(__file__).parent.parent


@dataclass
class Tally:
    """What came of the cases of the hunt."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    slowest: float = 0.0
    largest: float = 0.0

    @property
    def total(self) -> int:
        return sum(counts.total() for counts in self.outcomes.values())

    def add(self, name: str, seed: str, answer: dict) -> None:
        outcome = answer["outcome"]
        words = answer["words"]
        self.slowest = max(self.slowest, answer["seconds"])
        self.largest = max(self.largest, answer["gigabytes"])
        if answer["seconds"] > SECONDS:
            outcome = "violation"
            words = f"took {answer['seconds']:.0f} s"
        if answer["gigabytes"] > GIGABYTES:
            outcome = "violation"
            words = f"took {answer['gigabytes']:.1f} GB"
        self.outcomes.setdefault(name, Counter())[outcome] += 1
        if outcome == "violation":
            self.violations.append(f"{name} {seed}: {words}")
            print("VIOLATION", self.violations[-1], flush=True)  # a long hunt tells it at once


class Child:
    """A process of `hunt.child`."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(TESTS), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hunt.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
        )
        self.patience = _START_SECONDS

    def answer(self, name: str, seed: str) -> dict:
        """How a case ended; the end of the process is an answer too."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, seed, file=self.process.stdin, flush=True)
        ready, _, _ = select.select([self.process.stdout], [], [], self.patience + 2 * SECONDS)
        self.patience = 0.0
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        words = f"the process died with {code}" if ready else "no answer in time"
        return {"outcome": "violation", "words": words, "seconds": 0.0, "gigabytes": 0.0}

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def hunt_inputs(cases: Iterable[tuple[str, str]]) -> Tally:
    """All cases (reader, seed), in one child after the other."""
    tally = Tally()
    child = Child()
    try:
        for name, seed in cases:
            if not child.alive:
                child.end()
                child = Child()
            tally.add(name, seed, child.answer(name, seed))
            if tally.total % TELLS_EVERY == 0:
                print(f"{tally.total} inputs, {len(tally.violations)} violations", flush=True)
    finally:
        child.end()
    return tally
