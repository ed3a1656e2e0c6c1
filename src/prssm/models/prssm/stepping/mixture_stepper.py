"""One step at a time by all members of a mixture: its mean is that of `simulate` without noise."""

import numpy as np

from prssm.data.scaling import Scaler
from prssm.foundation.errors import DataError
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.stepping.stepper import Step, Stepper


class MixtureStepper:
    """Steps of all members side by side: `step = stepper(state, u)`, as a `Stepper`.

    The state is that of every member, one after the other, (M Dx,). The output is the members'
    mean; its deviation counts the sensor's noise and by how much the members differ.
    """

    def __init__(self, mixture: Mixture, scaler: Scaler, stride: int = 1) -> None:
        count = len(np.asarray(mixture.models.log_output_std))
        self.members = [Stepper(mixture, scaler, stride, member=i) for i in range(count)]
        self.stride = stride

    def start(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The members' states at the first of some samples in physical units.

        They are u (L, Du) and y (L, Dy), NaN where not measured.
        """
        return np.concatenate([member.start(u, y) for member in self.members])

    def __call__(self, x: np.ndarray, u: np.ndarray) -> Step:
        """What follows the state under the input, and what a sensor shows of the state now."""
        x = np.asarray(x, np.float64)
        wanted = sum(member.state_dim for member in self.members)
        if x.ndim == 0 or x.shape[0] != wanted:
            raise DataError(
                f"step: expected a state ({wanted},), or ({wanted}, B), as `start` gives it for "
                f"{len(self.members)} members, got {x.shape}"
            )
        parts = np.split(x, len(self.members))
        steps = [member(part, u) for member, part in zip(self.members, parts, strict=True)]
        outputs = np.stack([step.output for step in steps])
        noise = np.stack([step.output_std for step in steps])
        return Step(
            np.concatenate([step.state for step in steps]),
            np.concatenate([step.state_std for step in steps]),
            outputs.mean(axis=0),
            output_std=np.sqrt(np.mean(noise**2, axis=0) + outputs.var(axis=0)),
        )
