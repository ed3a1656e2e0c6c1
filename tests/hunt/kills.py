"""Kills and signals at random moments: what is gone on with ends in the same bits.

A scenario is a command and what it makes. It is run once in peace; then again and again with a
kill or a signal at a random moment, going on each time, until it ends. Nothing of an interrupted
run may remain then, and what was made must be equal, but for the seconds that it took. Where a
scenario has several processes, one of them is hit and the others must end by themselves.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hunt import samples
from hunt.inputs import TESTS
from prssm.data.io.files import write_record
from prssm.foundation import storage

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
STOPS_WITHIN = 3.0  # seconds; a loaded machine gets some more
_SLACK = 4.0
_MOST_IN_A_ROW = 6
_OTHERS_WITHIN = 60.0  # seconds in which the others end: `watch.SILENCE_SECONDS` and some more


def model_content(path: Path) -> Any:
    """All of a model file but how long its training took."""
    header, arrays = storage.read(path, "model")
    training = header["learnt"].get("training") or {}
    for name in ("seconds", "waited"):
        training.pop(name, None)
    return header, {name: array.tobytes() for name, array in arrays.items()}


def results_content(path: Path) -> Any:
    """What was found for each key of a results file."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["key"]: (line["outcome"], line.get("metrics")) for line in lines}


@dataclass(frozen=True)
class Scenario:
    """A command, the file that it makes, and what of that must be the same."""

    words: str
    made: str
    content: Callable[[Path], Any]
    share: int = 1  # of all kills, relative to the others
    processes: int = 1  # that run the command together


TINY = (
    "--preset paper --latent-dim 2 --inducing 4 --samples 2 --batch 2 --horizon 20 --restarts 1 "
    "--recognition-window 4"
)
FIT = "fit log.csv --out model.prssm --quiet --resume"
SCENARIOS = {
    "default": Scenario(f"{FIT} --iterations 60", "model.prssm", model_content, 6),
    "paper": Scenario(f"{FIT} {TINY} --iterations 2500", "model.prssm", model_content, 15),
    "stream": Scenario(
        f"fit --stream stream --out model.prssm --quiet --resume {TINY} --iterations 60",
        "model.prssm",
        model_content,
        1,
    ),
    "several": Scenario(
        f"{FIT} {TINY} --iterations 150", "model.prssm", model_content, share=3, processes=2
    ),
    "legs": Scenario(
        f"{FIT} --method gp-narx --inducing 4 --lags 2 --iterations 300",
        "model.prssm",
        model_content,
        1,
    ),
    "search": Scenario(
        "search log.csv --method constant --over seed=0..5 --out found --no-fit",
        "found/trials.jsonl",
        results_content,
        2,
    ),
    "benchmark": Scenario(
        "benchmark --methods constant --datasets kink --seeds 2 --out runs",
        "runs/experiments.jsonl",
        results_content,
        1,
    ),
    "save": Scenario(
        "fit log.csv --out model.prssm --quiet --method linear --order 2",
        "model.prssm",
        model_content,
        5,
    ),
}


@dataclass
class Killed:
    """What came of the kills and signals."""

    counts: dict[str, int] = field(default_factory=dict)
    signals: int = 0  # of these, that the program could answer
    chains: int = 0
    slowest: float = 0.0
    violations: list[str] = field(default_factory=list)


class Program:
    """The warm process that runs commands."""

    def __init__(self, folder: Path) -> None:
        path = os.pathsep.join([str(TESTS), *sys.path])
        cache = {"PRSSM_CACHE": str(folder / "compiled")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hunt.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path} | cache,
        )

    def run(self, words: str, folder: Path, number: int = 0, moment: float = 0.0) -> dict:
        """The command, with a signal after so many seconds where a number says which."""
        self.ask(words, folder, signal=number, moment=moment)
        return self.answer()

    def ask(self, words: str, folder: Path, **more: Any) -> None:
        assert self.process.stdin is not None
        asked = {"words": words.split(), "folder": str(folder), **more}
        print(json.dumps(asked), file=self.process.stdin, flush=True)

    def answer(self) -> dict:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Together:
    """Several warm processes that run a command as one; a signal hits one of them."""

    def __init__(self, programs: list[Program]) -> None:
        self.programs = programs

    def run(self, words: str, folder: Path, number: int = 0, moment: float = 0.0) -> dict:
        """How the one that was hit has ended, and in `others` how the others have."""
        count = len(self.programs)
        hit = int(1000 * moment) % count
        joined = f"{words} --coordinator 127.0.0.1:{_free_port()} --processes {count} --process"
        for process, program in enumerate(self.programs):
            said = f"said{process}.txt" if process != hit else "said.txt"
            mine = {"signal": number, "moment": moment} if process == hit else {}
            program.ask(f"{joined} {process}", folder, said=said, joins_within=20, **mine)
        ended = self.programs[hit].answer()
        since = time.monotonic()
        others = []
        for process, program in enumerate(self.programs):
            if process != hit:
                others.append(program.answer())
                others[-1]["after"] = time.monotonic() - since
                others[-1]["said"] = _taken(folder / f"said{process}.txt")
        codes = [ended["code"], *(other["code"] for other in others)]
        return ended | {"others": others, "code": ended["code"] if number else max(codes)}


def _taken(path: Path) -> str:
    """What a file says, which is not there any more then; nothing where there was none."""
    text = path.read_text() if path.exists() else ""
    path.unlink(missing_ok=True)
    return text


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def hunt_kills(
    count: int, seed: int, only: str | None = None, minutes: float = float("inf")
) -> Killed:
    """So many kills and signals over all scenarios, or over one; fewer where time is short.

    Time is shared out as the kills are.
    """
    chosen = {name: s for name, s in SCENARIOS.items() if only in (None, name)}
    shares = sum(scenario.share for scenario in chosen.values())
    killed = Killed()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        programs = [Program(base) for _ in range(max(s.processes for s in chosen.values()))]
        try:
            for name, scenario in chosen.items():
                rng = np.random.default_rng([seed, len(name)])
                kills = max(1, round(count * scenario.share / shares))
                group = Together(programs) if scenario.processes > 1 else programs[0]
                scene = _Scene(name, scenario, group, base=base, rng=rng, tally=killed)
                scene.play(kills, 60.0 * minutes * scenario.share / shares)
        finally:
            for program in programs:
                program.end()
    return killed


class _Scene:
    """One scenario: in peace first, then with kills."""

    def __init__(
        self,
        name: str,
        scenario: Scenario,
        program: Program | Together,
        *,
        base: Path,
        rng: np.random.Generator,
        tally: Killed,
    ) -> None:
        self.name = name
        self.scenario = scenario
        self.program = program
        self.base = base
        self.rng = rng
        self.tally = tally
        self.turn = 0
        self.seconds = 0.0  # that the command takes in peace

    def play(self, kills: int, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        folder = self._folder()
        self.program.run(self.scenario.words, folder)  # compiles what is kept for later
        folder = self._folder()
        straight = self.program.run(self.scenario.words, folder)
        if straight["code"]:
            self._violation(f"in peace it ended with {straight['code']}", folder)
            return
        self.seconds = straight["seconds"]
        expected = self.scenario.content(folder / self.scenario.made)
        left = sorted(path.name for path in folder.rglob("*"))
        before = self.tally.counts.setdefault(self.name, 0)
        while self.tally.counts[self.name] - before < kills:
            if self.tally.counts[self.name] > before and time.monotonic() > deadline:
                break  # no scenario is left out where time is short
            folder = self._chain()
            found = self.scenario.content(folder / self.scenario.made)
            if found != expected:
                self._violation("another result than in peace", folder)
            now = sorted(path.name for path in folder.rglob("*"))
            if set(now) - set(left):
                self._violation(f"left behind {set(now) - set(left)}", folder)
            self.tally.chains += 1
            shutil.rmtree(folder)

    def _chain(self) -> Path:
        """Kills in a row, and the run that then ends."""
        folder = self._folder()
        for _ in range(int(self.rng.integers(1, _MOST_IN_A_ROW + 1))):
            number = int(self.rng.choice(SIGNALS))
            moment = float(self.rng.uniform(0.0, 1.05 * self.seconds))
            ended = self.program.run(self.scenario.words, folder, number, moment)
            if not ended["sent"]:  # it was faster, perhaps because the machine has less to do
                self.seconds = min(self.seconds, ended["seconds"])
                break
            self._check(ended, number, folder)
        ended = self.program.run(self.scenario.words, folder)
        if ended["code"]:
            self._violation(f"going on ended with {ended['code']}", folder)
        return folder

    def _check(self, ended: dict, number: int, folder: Path) -> None:
        """One interrupted run: its exit code, its words, how long it took, whole files."""
        self.tally.counts[self.name] += 1
        if ended["code"] not in (CODES[signal.Signals(number)], 0):
            self._violation(f"signal {number} ended in {ended['code']}", folder)
        said = _said(folder)
        if "Traceback" in said or "Fatal" in said:
            self._violation(f"signal {number}: {said[-300:]!r}", folder)
        for other in ended.get("others", ()):
            self._check_other(other, folder)
        if number != signal.SIGKILL:
            self.tally.signals += 1
            self.tally.slowest = max(self.tally.slowest, ended["after"])
            if ended["after"] > STOPS_WITHIN + _SLACK:
                self._violation(f"took {ended['after']:.1f} s to stop", folder)
        made = folder / self.scenario.made
        if made.exists():
            self.scenario.content(made) if made.suffix == ".prssm" else None

    def _check_other(self, ended: dict, folder: Path) -> None:
        """One of several processes that lost the one that was hit."""
        said = ended["said"]
        if ended["code"] not in (0, 2):
            self._violation(f"another process ended in {ended['code']}: {said[-300:]!r}", folder)
        lines = [line for line in said.splitlines() if "no checkpoint there" not in line]
        if ended["code"] and (len(lines) != 1 or not lines[0].startswith("prssm: ")):
            self._violation(f"another process did not say one line: {said[-300:]!r}", folder)
        if ended["after"] > _OTHERS_WITHIN:
            self._violation(f"another process ended {ended['after']:.0f} s later", folder)

    def _folder(self) -> Path:
        """A new one with the data."""
        self.turn += 1
        folder = self.base / f"{self.name}{self.turn}"
        folder.mkdir()
        write_record(folder / "log.csv", samples.record(120))
        if "stream" in self.scenario.words:
            self.program.run("convert log.csv --out stream", folder)
        return folder

    def _violation(self, words: str, folder: Path) -> None:
        self.tally.violations.append(f"{self.name}: {words} | {_said(folder)[-300:]!r}")
        print("VIOLATION", self.tally.violations[-1], flush=True)  # a long hunt tells it at once


def _said(folder: Path) -> str:
    """What a run wrote to the terminal; nothing where it was killed before it could open that."""
    path = folder / "said.txt"
    return path.read_text() if path.exists() else ""
