"""An autoregressive model as the filters see it: its state is the window of its last outputs."""

import numpy as np
from jaxtyping import Float

from prssm.gp.conditional import Conditional
from prssm.inference.spaces.gp_functions import GPFunctions
from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace

# Of neighbouring outputs before the first measurement: they were not far from each other.
_CORRELATION = 0.95


class NarxSpace(StateSpace):
    """x_t = [y_t, .., y_{t-L+1}] without sensor noise; u is the window of the last L inputs."""

    members = 1

    def __init__(
        self,
        gps: Conditional,
        lags: int,
        *,
        process_var: Float[Array, " Dy"],
        output_var: Float[Array, " Dy"],
        usual_mean: Float[Array, " Dy"],
        usual_std: Float[Array, " Dy"],
    ) -> None:
        self.lags = lags
        self.output_dim = len(process_var)
        self.state_dim = lags * self.output_dim
        self._functions = GPFunctions.of_conditionals(gps, self.state_dim)
        self._process_var = process_var
        self._R = np.diag(output_var + LEAST_OUTPUT_VAR)[None, None]
        self._usual = usual_mean, usual_std
        self._C = np.eye(self.output_dim, self.state_dim)[None, None]

    def first(self) -> Belief:
        """The usual output; what was before the first row is near to it."""
        mean, std = self._usual
        distance = np.abs(np.arange(self.lags)[:, None] - np.arange(self.lags))
        covariance = np.kron(_CORRELATION**distance, np.diag(std**2))
        return Belief(np.tile(mean, self.lags)[None, None], covariance[None, None])

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        f, slope, variance = self._functions(np.concatenate([x, u[None]], axis=2))
        outputs = self.output_dim
        kept = self.state_dim - outputs
        A = np.zeros((*x.shape, self.state_dim))
        Q = np.zeros_like(A)
        A[:, :, :outputs] = slope
        A[:, :, outputs:, :kept] = np.eye(kept)
        at = np.arange(outputs)
        Q[:, :, at, at] = variance + self._process_var
        return Local(np.concatenate([f, x[:, :, :kept]], axis=2), A, Q)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        return Local(x[:, :, : self.output_dim], self._C, self._R)
