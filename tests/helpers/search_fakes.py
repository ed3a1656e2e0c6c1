"""A method whose training curve and free run are known in advance, so that a search can be checked
by hand.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prssm.data.record import Record
from prssm.foundation.options import Options, option
from prssm.models import registry
from prssm.models.estimator import Estimator
from prssm.models.simulated import Simulated
from prssm.training.log import TrainingLog
from prssm.training.session import Session

FITS: Counter[str] = Counter()  # how often each level was trained, in this process
SHOWN: list[list[Record]] = []  # what each fit was given, in the records' own (scaled) units


@dataclass(frozen=True)
class FakeConfig(Options):
    level: float = option(0.0, "what it predicts, in training deviations")
    elbo: float = option(0.0, "ELBO for each recorded step, all through its training")
    rate: float = option(0.1, "has no effect", above=0)
    horizon: int | None = option(None, "changes what the ELBO means", minimum=1)
    behave: str = option("well", "what happens", choices=("well", "raise", "diverge", "interrupt"))
    seed: int = option(0, "moves the prediction by a hundredth of a deviation", minimum=0)


class Fake(Estimator):
    """Predicts `level + seed / 100` training deviations above the training mean."""

    name: ClassVar[str] = "fake"
    Config = FakeConfig
    PRESETS: ClassVar = {"default": FakeConfig(), "paper": FakeConfig(level=5.0)}

    @property
    def warmup(self) -> int:
        return 0

    def _fit(self, records: list[Record], session: Session) -> None:
        config = self.config
        FITS[str(config.level)] += 1
        SHOWN.append(records)
        session.progress.start(50, 0, "pretending")
        for done in range(1, 51):
            session.progress.update(done, {"best ELBO": config.elbo * sum(map(len, records))})
        session.progress.stop()
        if config.behave == "raise":
            raise ZeroDivisionError("no\nluck")
        if config.behave == "interrupt":
            raise KeyboardInterrupt
        self.training_ = TrainingLog(
            np.array([50]),
            np.zeros((1, 1)),
            np.zeros(1),
            outcomes=("finished",),
            kept=0,
            seconds=0.1,
        )

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        mean = np.full((len(u), y_start.shape[1]), self.config.level + self.config.seed / 100)
        if self.config.behave == "diverge":
            mean[3:] = np.inf
        return Simulated(mean, np.ones_like(mean))

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None: ...


def toy(rows: int = 80) -> Record:
    """Outputs 1, -1, 1, ...: mean 0 and deviation 1 in every stretch of even length."""
    return Record(np.arange(float(rows)), np.array([1.0, -1.0] * (rows // 2)), name="toy")


def install(monkeypatch: Any) -> None:
    """Make `fake` a method, and the constant the only plain model beside it."""
    monkeypatch.setitem(registry.METHODS, "fake", "search_fakes:Fake")
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant",))
    FITS.clear()
    SHOWN.clear()
