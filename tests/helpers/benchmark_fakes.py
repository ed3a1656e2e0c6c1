"""Small stand-ins for methods and data sets, so that the benchmark itself can be tested in
milliseconds.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.evaluation.benchmark import data
from prssm.evaluation.benchmark.experiment import blank_record
from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.jobs.job_record import Finished
from prssm.foundation.errors import DataError, TrainingInterrupted
from prssm.foundation.options import Options, option
from prssm.models import registry
from prssm.models.estimator import Estimator
from prssm.models.simulated import Simulated
from prssm.training.log import TrainingLog
from prssm.training.session import Session

FITS: Counter[str] = Counter()  # how often each behaviour was trained, in this process


@dataclass(frozen=True)
class FakeConfig(Options):
    behave: str = option(
        "well", "what happens", choices=("well", "raise", "diverge", "overflow", "interrupt")
    )
    offset: float = option(0.5, "what it predicts, in training deviations")
    iterations: int | None = option(50, "pretended", minimum=0)
    scheme: str = option("stochastic", "pretended", choices=("stochastic", "full"))
    restarts: int = option(2, "pretended", minimum=1)
    seed: int = option(0, "moves the prediction by a hundredth of a deviation", minimum=0)


class Fake(Estimator):
    """Predicts `offset + seed / 100` training deviations above the training mean, with unit
    deviation.
    """

    name: ClassVar[str] = "fake"
    Config = FakeConfig
    PRESETS: ClassVar = {"default": FakeConfig(), "paper": FakeConfig(iterations=70)}

    @property
    def warmup(self) -> int:
        return 2

    def _fit(self, records: list[Record], session: Session) -> None:
        FITS[self.config.behave] += 1
        if self.config.behave == "raise":
            raise ZeroDivisionError("no\nluck")
        if self.config.behave == "interrupt":
            raise TrainingInterrupted("stopped")
        self.training_ = TrainingLog(
            np.array([1, self.config.iterations]),
            np.array([[0.0, 1.0], [0.0, np.nan]]),
            np.array([1.0, np.nan]),
            outcomes=("finished", "diverged at 2"),
            kept=0,
            seconds=0.1,
        )

    def findings(self) -> list[tuple[str, str]]:
        return [("Warm-up", str(self.warmup))]

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        mean = np.full((len(u), y_start.shape[1]), self.config.offset + self.config.seed / 100)
        if self.config.behave == "diverge":
            mean[3:] = np.inf
        if self.config.behave == "overflow":
            mean[3:] = 1e200
        std = np.ones_like(mean)
        return Simulated(
            mean, std, mean[None] + np.zeros((20, 1, 1)), state_mean=mean, state_std=std
        )

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None: ...


@dataclass(frozen=True)
class VariedConfig(Options):
    normalise: bool = option(True, "without it the prediction is 1 higher")
    propagation: str = option(
        "moment-matching", "with the mean it is 2 higher", choices=("moment-matching", "mean")
    )
    seed: int = option(0, "has no effect", minimum=0)


class Varied(Fake):
    """One of the methods that the paper ran in four settings; its prediction tells in which it was
    run.
    """

    name: ClassVar[str] = "nigp"
    Config = VariedConfig
    PRESETS: ClassVar = {"default": VariedConfig()}

    def _fit(self, records: list[Record], session: Session) -> None: ...

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        level = 1.0 * (not self.config.normalise) + 2.0 * (self.config.propagation == "mean")
        mean = np.full((len(u), y_start.shape[1]), level)
        return Simulated(mean, np.ones_like(mean))


def install_varied(monkeypatch: Any) -> None:
    """After `install`: nigp is a method too, in the paper's four settings."""
    monkeypatch.setitem(registry.METHODS, "nigp", "benchmark_fakes:Varied")


def toy_data() -> tuple[Record, Record]:
    """Training outputs with mean 0 and deviation 1; test outputs 0, 1, ..., 7."""
    train = Record(np.arange(8.0), np.array([1.0, -1.0] * 4), name="toy train")
    return train, Record(np.arange(8.0), np.arange(8.0), name="toy test")


def install(monkeypatch: Any) -> None:
    """Make `constant`, `linear` and `prssm` the methods (the last two fakes), and every public set
    the toy data.
    """

    def described(name: str) -> SimpleNamespace:
        if name not in ("toy", "skipping", "drives", "furnace"):
            raise DataError(f"unknown data set {name!r}. Known: toy, skipping, drives, furnace.")
        return SimpleNamespace(name=name, unscored=3 if name == "skipping" else 0)

    fake = "benchmark_fakes:Fake"
    monkeypatch.setattr(
        registry,
        "METHODS",
        {"constant": "prssm.models.constant:Constant", "linear": fake, "prssm": fake},
    )
    monkeypatch.setattr("prssm.evaluation.benchmark.plan.METHODS", registry.METHODS)
    monkeypatch.setattr(catalogue, "describe", described)
    install_data(monkeypatch, lambda name: toy_data())
    FITS.clear()


def install_data(monkeypatch: Any, load: Callable[[str], Any]) -> None:
    """Load data sets by this function, in this test only: its memory is a fresh one."""
    monkeypatch.setattr(catalogue, "load", load)
    monkeypatch.setattr(data, "load_parts", lru_cache(data.load_parts.__wrapped__))


def pretend(experiment: Experiment) -> Finished:
    """A result without any work; remembers in FAKE_FOLDER who tried what. The first try of seed 0
    takes very long.
    """
    tries = Path(os.environ["FAKE_FOLDER"]) / experiment.key
    first = not tries.exists()
    with tries.open("a") as stream:
        stream.write(f"{os.getpid()}\n")
    if experiment.seed == 0 and first:
        time.sleep(600)
    return Finished(blank_record(experiment) | {"metrics": {}}, {"seed": np.array(experiment.seed)})
