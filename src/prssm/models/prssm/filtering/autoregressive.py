"""A linear autoregression as a member of a PR-SSM's mixture: for filters only.

It has the sizes of the other members, spare states and a GP that plays no part.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import DataError
from prssm.inference.noise_search import NoiseFactors
from prssm.linear.autoregression import Autoregression
from prssm.linear.first_state import InitialState
from prssm.models.prssm.config import ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission
from prssm.models.prssm.starts.linear_start import LinearStart
from prssm.models.prssm.starts.start import linear_model, stacked

# All of the process noise that `shape` says, and a little sensor noise beside it.
NOISES = NoiseFactors(process=1.0, sensor=0.05, memory=0.0)
_NO_SIGNAL = 1e-6  # deviation of the GP, and of its process noise
_LEAST_STD = 1e-6  # of errors and of the first state, in scaled units
_BROAD_STD = 2.0  # of a state of which nothing is known
_SURE = 0.1  # of the errors' deviation: the first states are read off the first rows


class Autoregressive(NamedTuple):
    """The member (arrays lead with an axis of one), and the shape (1, Dx, Dx) of its noise."""

    models: StateSpaceModel
    shape: np.ndarray


def autoregressive_member(
    config: ResolvedConfig, records: Sequence[Record], window: int
) -> Autoregressive | None:
    """Of scaled records, with the sizes that the options say; None where it does not fit."""
    outputs = records[0].output_dim
    most = min(config.latent_dim // outputs, window)
    if most < 1 or config.start == "random":
        return None
    try:
        found = Autoregression.fit(records, most)
    except DataError:  # no rows in sequence without a gap
        return None
    std = np.maximum(found.std, _LEAST_STD)
    plain = config.replace(signal_std=_NO_SIGNAL, z_mean_std=0.0, process_std=_NO_SIGNAL)
    model = linear_model(plain, _start(found, std, window), np.random.default_rng(config.seed))
    shape = np.zeros((1, config.latent_dim, config.latent_dim))
    shape[0, :outputs, :outputs] = np.diag(std**2)
    return Autoregressive(stacked([model]), shape)


def _start(found: Autoregression, std: np.ndarray, window: int) -> LinearStart:
    """With a map from the first rows to the first state, which reads as many as there are lags."""
    system = found.system
    outputs, inputs = system.D.shape
    broad = InitialState(
        np.zeros(system.order),
        _BROAD_STD * np.eye(system.order),
        _SURE * std,
        correlation=np.zeros(outputs),
        start_std=_SURE * std,
    )
    weight, bias, factor = broad.affine(system, found.lags)
    first = np.zeros((system.order, window * (outputs + inputs)))
    first[:, : found.lags * outputs] = weight[:, : found.lags * outputs]
    begin = window * outputs
    first[:, begin : begin + found.lags * inputs] = weight[:, found.lags * outputs :]
    return LinearStart(
        np.concatenate([system.A, system.B], axis=1),
        np.zeros(system.order),
        LinearEmission(system.C, system.D, system.offset),
        log_output_std=np.log(std),
        first_weight=first,
        first_bias=bias,
        first_log_std=np.log(np.maximum(np.sqrt(np.sum(factor**2, axis=1)), _LEAST_STD)),
        visited=[],
    )
