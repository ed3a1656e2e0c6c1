"""One step of the transition and the emission in NumPy.

All that no state changes is worked out beforehand.

For one state a call of compiled JAX code costs more than the arithmetic in it. With log k = G [1;
xu; xu^2] for the squared-exponential kernel, and F = [m'W; W; V'W] for each latent dimension, a
step is

    [f; a; c] = F k,    mean = A xu + b + O tanh(W xu + c) + f,
    variance = max(s^2 - a'a, 0) + c'c + process variance,    y = C xu + c_0.

Many models have no neurons, O and W are empty then.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from jaxtyping import Float

from prssm.dynamics.transition import Dynamics, Network
from prssm.foundation.arrays import AnyArray
from prssm.gp.kernels import SquaredExponential, squared_exponential_only
from prssm.models.prssm.emission import Emission

Array = np.ndarray
# mean and standard deviation of the next states, outputs of the present ones
Stepped = tuple[Array, Array, Array]


class PlainStep:
    """The matrices of the formulas above."""

    def __init__(self, dynamics: Dynamics, mean: Network, emission: tuple) -> None:
        gp = dynamics.unshared().gp
        white, m, spread = (np.asarray(part, np.float64) for part in (gp.white, gp.mean, gp.spread))
        kernel = squared_exponential_only(gp.kernel)
        variance = np.exp(2.0 * np.asarray(kernel.log_std, np.float64))
        self._states = len(gp.zeta)
        self._points = gp.zeta.shape[1]
        self._exponent = _exponent(
            variance, np.asarray(kernel.log_lengthscale), np.asarray(gp.zeta)
        )
        self._factors = np.concatenate(
            [m[:, None] @ white, white, np.swapaxes(spread, 1, 2) @ white], axis=1
        )
        self._signal_var = variance[:, None]
        self._process_var = np.asarray(dynamics.process_var)[:, None]
        (seen, offset) = emission
        self._neuron_out = np.asarray(mean.neuron_out, np.float64)
        # One product for all that is linear in xu: the mean's part, the neurons' and the outputs'.
        self._affine = _float64([mean.weight, mean.neuron_weight, seen])
        self._constant = _float64([mean.bias, mean.neuron_bias, offset])[:, None]

    @classmethod
    def where_possible(cls, dynamics: Dynamics, emission: Emission, input_dim: int) -> Self | None:
        """None where kernel, prior mean or emission are of another form."""
        sizes = len(dynamics.process_var), input_dim
        mean = dynamics.mean.network(*sizes)
        seen = emission.affine(*sizes)
        if type(dynamics.gp.kernel) is not SquaredExponential or mean is None or seen is None:
            return None
        return cls(dynamics, mean, seen)

    def __call__(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Stepped:
        xu = np.concatenate([x, u])
        k = np.exp(self._exponent @ np.concatenate([np.ones((1, xu.shape[1])), xu, xu * xu]))
        f = self._factors @ k.reshape(self._states, self._points, -1)
        squares = f * f
        count = 1 + self._points
        unsaid = self._signal_var - np.add.reduce(squares[:, 1:count], axis=1)
        variance = (
            np.maximum(unsaid, 0.0) + np.add.reduce(squares[:, count:], axis=1) + self._process_var
        )
        affine = self._affine @ xu + self._constant
        outputs = self._states + self._neuron_out.shape[1]
        mean = affine[: self._states] + f[:, 0]
        if outputs > self._states:
            mean += self._neuron_out @ np.tanh(affine[self._states : outputs])
        return mean, np.sqrt(variance), affine[outputs:]


def _float64(parts: Sequence[AnyArray]) -> Array:
    """Arrays below each other, in double precision."""
    return np.concatenate([np.asarray(part, np.float64) for part in parts])


def _exponent(
    variance: Float[Array, " Dx"],
    log_lengthscale: Float[Array, "Dx Din"],
    zeta: Float[Array, "Dx P Din"],
) -> Float[Array, "Dx*P 1+2*Din"]:
    """G: log s^2 - sum_i lambda_i^2 (zeta_i - xu_i)^2 / 2, multiplied out."""
    precision = np.broadcast_to(np.exp(-2.0 * log_lengthscale)[:, None], zeta.shape)
    constant = np.log(variance)[:, None] - 0.5 * np.sum(precision * zeta**2, axis=2)
    rows = np.concatenate([constant[:, :, None], precision * zeta, -0.5 * precision], axis=2)
    return rows.reshape(-1, rows.shape[2]).astype(np.float64)
