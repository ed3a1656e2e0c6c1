"""The kink function of the GP state-space literature.

A scalar system without input, measured directly.

    x_{t+1} = f(x_t) + process noise,   f(x) = 0.8 + (x + 0.2) (1 - 5 / (1 + exp(-2 x))),
    y_t = x_t + sensor noise
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators.system import System, Trajectory
from prssm.foundation.options import Options, option


@dataclass(frozen=True)
class KinkParameters(Options):
    """Noise levels of the kink system."""

    process_std: float = option(0.05, "standard deviation of the process noise", minimum=0.0)
    output_std: float = option(0.1, "standard deviation of the sensor noise", minimum=0.0)


def transition(x: np.ndarray) -> np.ndarray:
    """The true transition function f."""
    x = np.asarray(x, dtype=np.float64)
    sigmoid = 0.5 * (1.0 + np.tanh(x))  # 1 / (1 + exp(-2 x)) without overflow
    return 0.8 + (x + 0.2) * (1.0 - 5.0 * sigmoid)


def run(
    parameters: KinkParameters, length: int, generators: Sequence[np.random.Generator]
) -> list[Trajectory]:
    return [_run_one(parameters, length, rng) for rng in generators]


def _run_one(parameters: KinkParameters, length: int, rng: np.random.Generator) -> Trajectory:
    disturbance = parameters.process_std * rng.standard_normal(length)
    noise = parameters.output_std * rng.standard_normal(length)
    x = np.empty(length)
    x[0] = rng.uniform(-1.0, 1.0)
    for t in range(length - 1):
        x[t + 1] = transition(x[t]) + disturbance[t]
    return Trajectory(Record(None, x + noise), x[:, None])


KINK = System(
    "kink",
    "Kink function: a scalar system without input, measured directly",
    KinkParameters,
    run=run,
)
