"""Where the search for hyper-parameters begins, and the box it stays in.

Both are relative to the data's own scale.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from prssm.gp.kernels import SquaredExponential

# Factors on the start values. Beyond them the likelihood is flat or the matrices are singular in
# double precision.
_LENGTHSCALE_RANGE = (0.02, 300.0)
_SIGNAL_RANGE = (0.05, 50.0)
_NOISE_RANGE = (1e-2, 20.0)
_NOISE_START = 0.1  # of the targets' deviation


class HyperParameters(NamedTuple):
    """Of one output: the kernel and the noise, all as logarithms."""

    kernel: SquaredExponential
    log_noise_std: jnp.ndarray


def start_values(x: np.ndarray, y: np.ndarray, width: float = 1.0) -> HyperParameters:
    """Length scales of `width` typical distances between two windows.

    The signal is as large as the targets.
    """
    spread = np.maximum(x.std(axis=0), 1e-9 * (1.0 + np.abs(x).max()))
    lengthscale = width * spread * np.sqrt(x.shape[1])
    signal = np.sqrt(np.mean(y**2))
    return _logs(signal, lengthscale, _NOISE_START * y.std())


def box(x: np.ndarray, y: np.ndarray) -> tuple[HyperParameters, HyperParameters]:
    """Lower and upper limits of the search."""
    start = start_values(x, y)
    lower, upper = (
        HyperParameters(
            SquaredExponential(
                start.kernel.log_std + np.log(_SIGNAL_RANGE[i]),
                start.kernel.log_lengthscale + np.log(_LENGTHSCALE_RANGE[i]),
            ),
            start.log_noise_std + np.log(_NOISE_RANGE[i]),
        )
        for i in (0, 1)
    )
    return lower, upper


def _logs(signal: float, lengthscale: np.ndarray, noise: float) -> HyperParameters:
    kernel = SquaredExponential(jnp.log(jnp.asarray(signal)), jnp.log(jnp.asarray(lengthscale)))
    return HyperParameters(kernel, jnp.log(jnp.asarray(noise)))
