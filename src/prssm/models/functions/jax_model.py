"""A fitted model as pure functions: `start`, `step` and `simulate`, for jit, vmap and grad.

    functions = model.as_jax(samples=100)
    state = functions.start(functions.system, u, y)
    mean, std = functions.simulate(functions.system, state, u)

Inputs and outputs are in physical units, states are the model's own. With the same samples and seed
`simulate` gives what the model's `simulate` gives, up to rounding and without its witnesses.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.data.resample import at_all_rows, thinned_inputs
from prssm.data.scaling import Scaler
from prssm.foundation.arrays import AnyArray
from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.models.functions import outside
from prssm.models.functions.parts import Member, Parts
from prssm.prediction.seen import Seen


class Scaling(eqx.Module):
    """The scaler's numbers as part of a tree."""

    u_mean: Float[AnyArray, " Du"]
    u_std: Float[AnyArray, " Du"]
    y_mean: Float[AnyArray, " Dy"]
    y_std: Float[AnyArray, " Dy"]

    @classmethod
    def of(cls, scaler: Scaler) -> "Scaling":
        return cls(**scaler.to_arrays())


class Parameters(eqx.Module):
    """All numbers of a fitted model, to be differentiated or replaced: a tree of arrays."""

    model: Any  # the method's own, in scaled units; arrays lead with the members
    scaling: Scaling
    band_factor: Float[AnyArray, " Dy"]  # calibration of the band


class System(eqx.Module):
    """All that a step needs and that no state changes; `JaxModel.condition` makes it."""

    members: Member
    parameters: Parameters
    noise_var: Float[AnyArray, " Dy"]


class Draws(NamedTuple):
    """The random numbers of a fixed set of trajectories: M members with B trajectories each."""

    first: Float[np.ndarray, "M K B"]  # of the first states
    function: Float[np.ndarray, "M Dx P B"] | None  # of the functions; None: none is drawn
    noise: Callable[[int], Float[np.ndarray, "T M Dx B"]]  # of so many steps


class Stepped(NamedTuple):
    """One step: the next state, and mean and standard deviation of the present output.

    `far` is by how many deviations of the training data the run is, or was, outside of them. The
    next step wants it, so that its band stays wide for a while.
    """

    state: Float[Array, "M Dx B"]
    mean: Float[Array, " Dy"]
    std: Float[Array, " Dy"]
    far: Float[Array, ""]


@dataclass(frozen=True, eq=False)
class JaxModel:
    """The functions of one fitted model; `system` goes in, or `condition` of other parameters.

    A state is an array (M, Dx, B): members of the mixture, states, trajectories. `samples=0` is one
    trajectory of each member without any noise; the deviation then holds the sensor's noise and how
    far members disagree, no more. A step takes `stride` rows of a recording.
    """

    parts: Parts
    parameters: Parameters
    draws: Draws
    window: int  # steps from which `start` finds the first state
    stride: int
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    dt: float | None  # of a row
    seen: Seen | None = None  # what training has shown, where the band knows it

    def __post_init__(self) -> None:
        # Arrays of its own: JAX keeps the device's copy of a constant array by its identity, in the
        # precision in which it was first used.
        object.__setattr__(self, "parameters", jax.tree.map(np.array, self.parameters))

    def __repr__(self) -> str:
        members, states, trajectories = self._state_shape
        return (
            f"JaxModel(inputs: {', '.join(self.input_names) or 'none'}, outputs: "
            f"{', '.join(self.output_names)}, {members} members, {states} states, "
            f"{trajectories} trajectories each)"
        )

    @cached_property
    def system(self) -> System:
        """The fitted system, factored in double precision: arrays of NumPy, for any precision."""
        # now, even where it is first asked for while JAX traces a user's function
        with double_precision(), jax.ensure_compile_time_eval():
            return jax.tree.map(np.asarray, jax.jit(self.condition)(self.parameters))

    def condition(self, parameters: Parameters) -> System:
        """The system of other parameters; factors matrices, so call it in double precision."""
        members = self.parts.members(parameters.model)
        if self.draws.function is not None:
            members = jax.vmap(lambda member, draws: member.drawn(draws))(
                members, self.draws.function
            )
        return System(members, parameters, self.parts.noise_var(parameters.model))

    def start(
        self, system: System, u: Float[Array, "L Du"] | None = None, y: Any = None
    ) -> Float[Array, "M Dx B"]:
        """The state at the first of some samples, of which there are at least `window` steps.

        Outputs may be NaN where not measured. Without samples, or where all are NaN, it is the
        state that a simulation takes without outputs.
        """
        model = system.parameters.model
        if u is None or y is None or self.window == 0:
            means, factors = self.parts.first_state(model, None, None)
            return self._drawn(means, factors)
        rows = self.window * self.stride
        if len(y) < rows or len(u) < rows:
            raise DataError(f"start: expected at least {rows} rows, got {len(u)} and {len(y)}")
        self._check(u, ("rows", len(self.input_names)), "inputs")
        self._check(y, ("rows", len(self.output_names)), "outputs")
        scaling = system.parameters.scaling
        inputs = self._slow_inputs((u - scaling.u_mean) / scaling.u_std)[: self.window]
        outputs = ((y - scaling.y_mean) / scaling.y_std)[:: self.stride][: self.window]
        seen = self.parts.first_state(model, _filled(outputs), inputs)
        blind = self.parts.first_state(model, None, None)
        nothing = jnp.all(jnp.isnan(outputs))
        means, factors = (
            jnp.where(nothing, other, one) for one, other in zip(seen, blind, strict=True)
        )
        return self._drawn(means, factors)

    def _drawn(self, means: Array, factors: Array) -> Array:
        return means[:, :, None] + factors @ self.draws.first

    def step(
        self,
        system: System,
        state: Float[Array, "M Dx B"],
        u: Float[Array, " Du"],
        noise: Float[Array, "M Dx B"] | float = 0.0,
        far: Float[Array, ""] | float = 0.0,
    ) -> Stepped:
        """What follows the state under the input, and what a sensor shows of the state now.

        `noise` holds standard normal numbers for the process noise, `far` is what the step before
        has given. Over `stride` rows of a recording the input is the mean of theirs.
        """
        self._check(state, self._state_shape, "state")
        self._check(u, (len(self.input_names),), "input")
        scaling = system.parameters.scaling
        scaled = (u - scaling.u_mean) / scaling.u_std
        following, outputs = advance(system.members, state, scaled, noise=noise)
        mean, std = self._band(system, outputs)
        if self.seen is None:
            return Stepped(following, mean, std, jnp.zeros((), std.dtype))
        now = outside.distance(self.seen, state[0].mean(axis=-1), scaled, _middle(outputs))
        far = outside.fading(far, now)
        return Stepped(following, mean, std * outside.widened(far), far)

    def simulate(
        self,
        system: System,
        state: Float[Array, "M Dx B"],
        u: Float[Array, "T Du"],
        noise: Float[Array, "steps M Dx B"] | None = None,
    ) -> tuple[Float[Array, "T Dy"], Float[Array, "T Dy"]]:
        """Mean and standard deviation of the outputs at every row of a free run.

        `noise` are other random numbers for the process noise than those of the seed.
        """
        self._check(state, self._state_shape, "state")
        self._check(u, ("rows", len(self.input_names)), "inputs")
        scaling = system.parameters.scaling
        inputs = self._slow_inputs((u - scaling.u_mean) / scaling.u_std)
        numbers = self.draws.noise(len(inputs)) if noise is None else noise

        def step(state: Array, at: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
            following, outputs = advance(system.members, state, at[0], noise=at[1])
            return following, (outputs, state[0].mean(axis=-1))

        kind = jnp.result_type(state, inputs)
        steps = (inputs.astype(kind), jnp.asarray(numbers, kind))
        _, (outputs, path) = jax.lax.scan(step, jnp.asarray(state, kind), steps)
        mean, std = self._band(system, outputs)
        if self.seen is not None:
            far = outside.distance(self.seen, path, steps[0], _middle(outputs))
            std = std * outside.widened(outside.remembered(far))[:, None]
        if self.stride > 1:
            return _at_all_rows(mean, self.stride, len(u)), _at_all_rows(std, self.stride, len(u))
        return mean, std

    @property
    def _state_shape(self) -> tuple[int, ...]:
        members, states, _ = self.parts.function_shape(self.parameters.model)
        return members, states, self.draws.first.shape[2]

    def _check(self, given: Any, wanted: tuple[Any, ...], what: str) -> None:
        """Shapes would be stretched silently; sizes that may be any have a name."""
        shape = np.shape(given)
        fits = len(shape) == len(wanted) and all(
            isinstance(size, str) or size == got for size, got in zip(wanted, shape, strict=True)
        )
        if not fits:
            raise DataError(f"{what}: expected an array {_words(wanted)}, got {_words(shape)}")

    def _band(self, system: System, outputs: Float[Array, "... M Dy B"]) -> tuple[Array, Array]:
        """Mean and deviation over members and trajectories, sensor noise and calibration in."""
        runs = jnp.moveaxis(outputs, -2, -1)
        runs = runs.reshape(*outputs.shape[:-3], -1, outputs.shape[-2])
        scaling = system.parameters.scaling
        mean = runs.mean(axis=-2)
        spread = jnp.sum((runs - mean[..., None, :]) ** 2, axis=-2) / max(runs.shape[-2] - 1, 1)
        std = jnp.sqrt(spread + system.noise_var)
        factor = system.parameters.band_factor * scaling.y_std
        return mean * scaling.y_std + scaling.y_mean, std * factor

    def _slow_inputs(self, u: Array) -> Array:
        """As many inputs as there are steps, by the linear map that the data room uses."""
        if self.stride == 1:
            return u
        return jnp.asarray(thinned_inputs(np.eye(len(u)), self.stride), u.dtype) @ u


def advance(
    members: Member, state: Float[Array, "M Dx B"], u: Float[Array, " Du"], noise: Any
) -> tuple[Float[Array, "M Dx B"], Float[Array, "M Dy B"]]:
    """The next states of all trajectories under one scaled input, and their present outputs."""
    inputs = jnp.broadcast_to(u[:, None], (len(u), state.shape[2]))
    mean, std, outputs = jax.vmap(lambda member, x: member(x, inputs))(members, state)
    return mean + std * noise, outputs


def _middle(outputs: Float[Array, "... M Dy B"]) -> Float[Array, "... Dy"]:
    """The scaled mean over members and trajectories."""
    return outputs.mean(axis=(-3, -1))


def _words(shape: tuple[Any, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def _filled(y: Float[Array, "L Dy"]) -> Float[Array, "L Dy"]:
    """Gaps bridged linearly, ends held, 0 where a column has no number: as in a Record."""
    rows = jnp.arange(len(y))[:, None]
    known = ~jnp.isnan(y)
    values = jnp.where(known, y, 0.0)
    before = jax.lax.cummax(jnp.where(known, rows, -1))
    after = jax.lax.cummin(jnp.where(known, rows, len(y)), reverse=True)
    low = jnp.where(before < 0, jnp.minimum(after, len(y) - 1), before)
    high = jnp.where(after >= len(y), jnp.maximum(before, 0), after)
    share = (rows - low) / jnp.maximum(high - low, 1)
    at_low = jnp.take_along_axis(values, low, axis=0)
    return at_low + share * (jnp.take_along_axis(values, high, axis=0) - at_low)


def _at_all_rows(slow: Array, stride: int, rows: int) -> Array:
    """Straight lines between the steps, by the linear map that the data room uses."""
    return jnp.asarray(at_all_rows(np.eye(len(slow)), stride, rows), slow.dtype) @ slow
