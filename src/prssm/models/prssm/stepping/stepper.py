"""One step at a time, for a controller that asks many times.

Factored once, then some microseconds a call.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from prssm.data.record import Record
from prssm.data.resample import thinned
from prssm.data.scaling import Scaler
from prssm.dynamics.transition import Dynamics
from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.models.prssm.emission import Emission
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.stepping.plain_step import PlainStep, Stepped

Array = np.ndarray


class Step(NamedTuple):
    """What one step gives: the state is the model's own, outputs are in physical units."""

    state: Float[Array, " Dx"]  # mean of the next state
    state_std: Float[Array, " Dx"]  # its standard deviation, given the present state
    output: Float[Array, " Dy"]  # mean of the measurement of the present state
    # its standard deviation, given the present state: the sensor's noise
    output_std: Float[Array, " Dy"]


class Stepper:
    """Steps of one member of a mixture, the best if none is named.

    Use it as `step = stepper(state, u)` with u (Du,) in physical units.
    Many states at once are columns: states (Dx, B) and inputs (Du, B) give all parts of the step
    with B columns. Repeated from `start`, with `step.state` as the next state, it is the free run
    without noise. A step takes `stride` rows of a recording, and u is the mean of the inputs over
    them.
    """

    def __init__(self, mixture: Mixture, scaler: Scaler, stride: int = 1, member: int = 0) -> None:
        self._member = member
        self._mixture = mixture
        self._scaler = scaler
        self.stride = stride
        best = jax.tree.map(lambda leaf: leaf[member], mixture.models)
        self._dims = len(best.transition.log_process_std), len(scaler.u_mean)
        with double_precision():
            dynamics = jax.jit(lambda transition: transition.condition())(best.transition)
            plain = PlainStep.where_possible(dynamics, best.emission, self._dims[1])
        self._step = plain or _compiled(dynamics, best.emission)
        columns = (scaler.u_mean, 1.0 / scaler.u_std, scaler.y_mean, scaler.y_std)
        self._u_mean, self._u_factor, self._y_mean, self._y_std = (
            array[:, None] for array in columns
        )
        self._noise_std = self._y_std * np.exp(np.asarray(best.log_output_std))[:, None]

    @property
    def state_dim(self) -> int:
        return self._dims[0]

    def start(self, u: np.ndarray, y: np.ndarray) -> Float[Array, " Dx"]:
        """The state at the first of some samples in physical units.

        They are u (L, Du) and y (L, Dy), NaN where not measured.

        At least as many as a simulation starts from; later ones are not read. Step through them to
        arrive at the present.
        """
        record = Record(u, y)
        wanted = self._dims[1], len(self._scaler.y_mean)
        if (record.input_dim, record.output_dim) != wanted:
            raise DataError(
                f"start: expected {wanted[0]} inputs and {wanted[1]} outputs, got "
                f"{record.input_dim} and "
                f"{record.output_dim}"
            )
        scaled = thinned(self._scaler.scale(record), self.stride)
        with double_precision():
            return np.array(self._mixture.firsts(scaled.u, scaled.y).mean[self._member])

    def __call__(self, x: np.ndarray, u: np.ndarray) -> Step:
        """What follows the state under the input, and what a sensor shows of the state now."""
        x = np.asarray(x, np.float64)
        u = np.asarray(u, np.float64)
        if (x.shape[0] if x.ndim else 0, *u.shape) != (
            self._dims[0],
            self._dims[1],
            *x.shape[1:],
        ) or x.ndim > 2:
            dx, du = self._dims
            raise DataError(
                f"step: expected a state ({dx},) and an input ({du},), or ({dx}, B) and ({du}, B), "
                f"got {x.shape} and {u.shape}"
            )
        if x.ndim == 2:
            return self._columns(x, u)
        return Step(*(part[:, 0] for part in self._columns(x[:, None], u[:, None])))

    def _columns(self, x: Float[Array, "Dx B"], u: Float[Array, "Du B"]) -> Step:
        mean, std, output = self._step(x, (u - self._u_mean) * self._u_factor)
        output = output * self._y_std + self._y_mean
        return Step(
            mean, std, output, output_std=np.repeat(self._noise_std, output.shape[1], axis=1)
        )


def _compiled(dynamics: Dynamics, emission: Emission) -> Callable[[Array, Array], Stepped]:
    """The step by JAX, for any kernel, prior mean and emission.

    It compiles anew for another number of states.
    """

    @jax.jit
    def step(x: jax.Array, u: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        mean, variance = dynamics(x, u)
        return mean, jnp.sqrt(variance), emission(x[None], u[None])[0]

    def call(x: Array, u: Array) -> Stepped:
        with double_precision():
            mean, std, output = step(jnp.asarray(x), jnp.asarray(u))
        return np.asarray(mean), np.asarray(std), np.asarray(output)

    return call
