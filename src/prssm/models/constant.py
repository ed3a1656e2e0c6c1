"""The training mean with the training spread: the row that every learnt model has to beat."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prssm.data.record import Record
from prssm.foundation.options import Options, option
from prssm.models.estimator import Estimator, Simulated
from prssm.training.session import Session


@dataclass(frozen=True)
class ConstantConfig(Options):
    """Options of the constant model."""

    seed: int = option(0, "not used: the model is deterministic", minimum=0)


class Constant(Estimator):
    """Predicts the mean of the training outputs, with their standard deviation, at every step."""

    name: ClassVar[str] = "constant"
    Config = ConstantConfig
    PRESETS: ClassVar = {"default": ConstantConfig()}

    @property
    def warmup(self) -> int:
        return 0

    def _fit(self, records: list[Record], session: Session) -> None:
        y = np.concatenate([record.y for record in records])
        self.mean_ = np.nanmean(y, axis=0)
        self.std_ = np.nanstd(y, axis=0)

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        shape = (len(u), len(self.mean_))
        return Simulated(np.broadcast_to(self.mean_, shape), np.broadcast_to(self.std_, shape))

    def _path(self, run: Simulated) -> np.ndarray:
        return np.zeros((len(run.mean), 0))

    def _visited(self, records: list[Record]) -> list[np.ndarray]:
        return [np.zeros((len(record), 0)) for record in records]

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"mean": self.mean_, "std": self.std_}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.mean_ = arrays["mean"]
        self.std_ = arrays["std"]
