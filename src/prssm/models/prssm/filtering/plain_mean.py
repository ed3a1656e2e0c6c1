"""Prior means of all members with their slopes, in NumPy.

With h = tanh(W xu + c), xu = [x; u], and W_x the columns of W that see the state,

    m = A xu + b + O h,    dm/dx = A_x + O diag(1 - h^2) W_x.

A new mean is plain if its `network` says these arrays.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array


class PlainMean:
    """Value and slope of the means of M members.

    It is made of the arrays of `dynamics.transition.Network`, in that order; each leads with M.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        weight, bias, neuron_out, neuron_weight, neuron_bias = arrays
        self._latent, self._hidden = neuron_out.shape[1:]
        # One product serves both: the first columns are A's, the others W's.
        rows = np.concatenate([weight, neuron_weight], axis=1)
        self._weight = np.swapaxes(rows, 1, 2)
        self._bias = np.concatenate([bias, neuron_bias], axis=1)[:, None]
        self._out = np.swapaxes(neuron_out, 1, 2)
        self._slope = weight[:, None, :, : self._latent]
        self._spread_out = neuron_out[:, None]
        self._seen = neuron_weight[:, None, :, : self._latent]

    def __call__(
        self, xu: Float[Array, "M B Din"]
    ) -> tuple[Float[Array, "M B Dx"], Float[Array, "M B Dx Dx"] | Float[Array, "M 1 Dx Dx"]]:
        """Values, and slopes by the state; an affine mean has one slope for all states."""
        found = xu @ self._weight + self._bias
        if not self._hidden:
            return found, self._slope
        h = np.tanh(found[:, :, self._latent :])
        steep = 1.0 - h * h
        slope = (self._spread_out * steep[:, :, None]) @ self._seen
        return found[:, :, : self._latent] + h @ self._out, slope + self._slope
