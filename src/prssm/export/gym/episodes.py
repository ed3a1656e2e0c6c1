"""Episodes on plausible systems as pure functions of JAX: `reset` and `step`.

At its start an episode draws one member of the model, one function from that member's posterior,
one first state and, where asked for, one target. It keeps them to its end, so that a policy that
exploits a mistake of one system loses on the others. Everything a policy sees is in physical units.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.models.functions.jax_model import JaxModel
from prssm.models.functions.parts import Member

FAR = 20.0  # deviations from the training data at which an episode ends


class Episode(NamedTuple):
    """Where one episode stands."""

    member: Array  # index of its member
    function: Float[Array, "Dx P"]  # the numbers that draw its function
    x: Float[Array, " Dx"]  # scaled
    outputs: Float[Array, "history Dy"]  # measured, the latest first
    inputs: Float[Array, "history Du"]
    target: Float[Array, " Dtarget"]
    time: Array


class Outcome(NamedTuple):
    """What a step gives beside the episode."""

    observation: Float[Array, " D"]
    reward: Array
    terminated: Array
    truncated: Array


class Starts(NamedTuple):
    """First states to draw from: N places, each as seen by every member."""

    means: Float[np.ndarray, "N M Dx"]
    factors: Float[np.ndarray, "N M Dx K"]


@dataclass(frozen=True, eq=False)
class Episodes:
    """`reset(key)` and `step(episode, action, key)`, to be jitted and vmapped."""

    functions: JaxModel
    members: Member  # of all members, no function drawn
    starts: Starts
    reward: Callable[..., Any]  # of the noise-free output, the input and, if any, the target
    horizon: int
    history: int
    low: np.ndarray
    high: np.ndarray
    targets: tuple[np.ndarray, np.ndarray] | None

    def reset(self, key: Array) -> tuple[Episode, Array]:
        """A new episode and its first observation."""
        count, members, _ = self.starts.means.shape
        _, states, points = self.functions.parts.function_shape(self.functions.parameters.model)
        width = self.starts.factors.shape[3]
        outputs = len(self.functions.output_names)
        aims = 0 if self.targets is None else len(self.targets[0])
        # Few calls with many numbers: the generator is what takes long to compile.
        chance, normal = jax.random.split(key)
        shares = jax.random.uniform(chance, (2 + aims,))
        numbers = jax.random.normal(normal, (width + states * points + outputs,))
        place = jnp.minimum((shares[0] * count).astype(int), count - 1)
        member = jnp.minimum((shares[1] * members).astype(int), members - 1)
        factor = jnp.asarray(self.starts.factors)[place, member]
        x = jnp.asarray(self.starts.means)[place, member] + factor @ numbers[:width]
        function = numbers[width : width + states * points].reshape(states, points)
        u = jnp.asarray(self.functions.parameters.scaling.u_mean)
        target = jnp.zeros(0)
        if self.targets is not None:
            low, high = (jnp.asarray(part) for part in self.targets)
            target = low + (high - low) * shares[2:]
        _, _, output = self._advanced(member, function, x, u)
        measured = self._measured(output, numbers[width + states * points :])
        episode = Episode(
            member,
            function,
            x,
            outputs=jnp.tile(measured, (self.history, 1)),
            inputs=jnp.tile(u, (self.history, 1)),
            target=target,
            time=jnp.zeros((), int),
        )
        return episode, observed(episode)

    def step(self, episode: Episode, action: Array, key: Array) -> tuple[Episode, Outcome]:
        """One step of the model under the action, which is cut to what is allowed."""
        states = len(episode.x)
        numbers = jax.random.normal(key, (states + len(self.functions.output_names),))
        u = jnp.clip(action, self.low, self.high)
        system = (episode.member, episode.function)
        mean, std, _ = self._advanced(*system, episode.x, u)
        x = mean + std * numbers[:states]
        _, _, output = self._advanced(*system, x, u)
        aims = () if self.targets is None else (episode.target,)
        reward = self.reward(output, u, *aims)
        scaling = self.functions.parameters.scaling
        far = jnp.abs((output - scaling.y_mean) / scaling.y_std) > FAR
        moved = episode._replace(
            x=x,
            outputs=_pushed(episode.outputs, self._measured(output, numbers[states:])),
            inputs=_pushed(episode.inputs, u),
            time=episode.time + 1,
        )
        ended = moved.time >= self.horizon
        return moved, Outcome(observed(moved), reward, jnp.any(far), truncated=ended)

    def _advanced(
        self, member: Array, function: Array, x: Array, u: Array
    ) -> tuple[Array, Array, Array]:
        """Mean and deviation of the next state, and the noise-free output of the present one."""
        scaling = self.functions.parameters.scaling
        one = jax.tree.map(lambda leaf: jnp.asarray(leaf)[member], self.members)
        scaled = (u - scaling.u_mean) / scaling.u_std
        mean, std, output = one.drawn(function[..., None])(x[:, None], scaled[:, None])
        return mean[:, 0], std[:, 0], output[:, 0] * scaling.y_std + scaling.y_mean

    def _measured(self, output: Array, numbers: Array) -> Array:
        parameters = self.functions.parameters
        std = jnp.sqrt(self.functions.parts.noise_var(parameters.model))
        return output + parameters.scaling.y_std * std * numbers


def observed(episode: Episode) -> Float[Array, " D"]:
    """Measured outputs, the latest first, inputs likewise, and the target if there is one."""
    parts = (episode.outputs.ravel(), episode.inputs.ravel(), episode.target)
    return jnp.concatenate(parts).astype(jnp.float32)


def _pushed(history: Array, latest: Array) -> Array:
    return jnp.concatenate([latest[None], history[:-1]])
