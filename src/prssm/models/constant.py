"""The training mean with the training spread: the row that every learnt model has to beat."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prssm.data.record import Record
from prssm.foundation.options import Options, option
from prssm.inference.spaces.linear_space import LinearSpace, Noises
from prssm.inference.state_space import StateSpace
from prssm.linear.system import LinearSystem
from prssm.models.estimator import Estimator
from prssm.models.simulated import Simulated
from prssm.models.stored_arrays import check
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

    def _state_space(self) -> StateSpace:
        """A system without a state, whose sensors see the mean and much noise."""
        outputs = len(self.mean_)
        nothing = np.zeros(outputs)
        inputs = len(self.input_names_)
        system = LinearSystem(
            np.zeros((0, 0)),
            np.zeros((0, inputs)),
            np.zeros((outputs, 0)),
            D=np.zeros((outputs, inputs)),
            offset=self.mean_,
        )
        noises = Noises(
            np.zeros((0, 0)), self.std_, coloured_std=nothing, memory=nothing, second=nothing
        )
        return LinearSpace(
            system, [noises], first_mean=np.zeros(0), first_covariance=np.zeros((0, 0))
        )

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"mean": self.mean_, "std": self.std_}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        check(arrays, {"mean": ("y",), "std": ("y",)}, y=len(self.output_names_))
        self.mean_ = arrays["mean"]
        self.std_ = arrays["std"]
