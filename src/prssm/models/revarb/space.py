"""REVARB as the filters see it: its state is the windows of all hidden layers, newest first."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from prssm.gp.conditional import Conditional
from prssm.inference.spaces.gp_functions import GPFunctions
from prssm.inference.state_space import LEAST_OUTPUT_VAR, Array, Belief, Local, StateSpace
from prssm.models.revarb.first_state import FirstState
from prssm.models.revarb.free_run import shift


class RevarbSpace(StateSpace):
    """Every hidden layer reads its own window and that of the layer below; outputs read the top.

    Layer h has the places h L Dy .. (h + 1) L Dy of the state.
    """

    members = 1

    def __init__(
        self,
        gps: Sequence[Conditional],
        noise_std: Float[Array, "layers Dy"],
        first: FirstState,
        *,
        lags: int,
        window: int,
    ) -> None:
        self.lags = lags
        self.window = window
        self.output_dim = noise_std.shape[1]
        width = lags * self.output_dim
        hidden = len(gps) - 1
        self.state_dim = hidden * width
        self._first = first
        self._noise_var = noise_std**2
        self._blocks = [slice(h * width, (h + 1) * width) for h in range(hidden)]
        wrt = [width, *[2 * width] * (hidden - 1), width]
        self._layers = [
            GPFunctions.of_conditionals(gp, count) for gp, count in zip(gps, wrt, strict=True)
        ]
        self._moves = [shift(h, self.state_dim, width, self.output_dim) for h in range(hidden)]

    def first(self) -> Belief:
        return Belief(self._first.usual_mean[None, None], self._first.usual_covariance[None, None])

    def recognised(
        self, u: Float[Array, "L Du"], y: Float[Array, "L Dy"]
    ) -> tuple[int, Belief] | None:
        """The windows of the first L rows, by the map that training has learnt."""
        if np.isnan(y).any():
            return None
        start = self._first(y, u, True)
        return self.lags - 1, Belief(start.mean[None, None], start.covariance[None, None])

    def step(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        """Layer after layer, each from the state as those below it have left it."""
        batch = x.shape[1]
        eye = np.broadcast_to(np.eye(self.state_dim), (1, batch, self.state_dim, self.state_dim))
        value = x
        A = eye
        Q = np.zeros_like(eye)
        for h, (keep, enter) in enumerate(self._moves):
            f, slope, variance = self._layers[h](self._read(h, value, u))
            by_state = np.zeros((1, batch, self.output_dim, self.state_dim))
            width = self._blocks[0].stop
            by_state[..., self._blocks[h]] = slope[..., :width]
            if h > 0:
                by_state[..., self._blocks[h - 1]] = slope[..., width:]
            move = keep + enter @ by_state
            fresh = (variance + self._noise_var[h])[..., :, None] * np.eye(self.output_dim)
            value = value @ keep.T + f @ enter.T
            A = move @ A
            Q = move @ Q @ np.swapaxes(move, -1, -2) + enter @ fresh @ enter.T
        return Local(value, A, Q)

    def output(self, x: Float[Array, "M B Dx"], u: Float[Array, "B U"]) -> Local:
        top = self._blocks[-1]
        f, slope, variance = self._layers[-1](x[..., top])
        C = np.zeros((*f.shape, self.state_dim))
        C[..., top] = slope
        noise = variance + self._noise_var[-1] + LEAST_OUTPUT_VAR
        return Local(f, C, noise[..., :, None] * np.eye(self.output_dim))

    def _read(self, h: int, x: Array, u: Array) -> Array:
        """What layer h reads of the state, and of the inputs if it is the lowest."""
        below = u[None] if h == 0 else x[..., self._blocks[h - 1]]
        return np.concatenate([x[..., self._blocks[h]], below], axis=2)
