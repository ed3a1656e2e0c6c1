"""Gymnasium's environments on top of `episodes`: one system at a time, or many in one call."""

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from prssm.export.gym.episodes import Episode, Episodes, observed
from prssm.foundation.errors import DataError


def observation_space(episodes: Episodes) -> gymnasium.spaces.Box:
    inputs = len(episodes.low)
    outputs = len(episodes.functions.output_names)
    targets = 0 if episodes.targets is None else len(episodes.targets[0])
    size = episodes.history * (outputs + inputs) + targets
    return gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)


def action_space(episodes: Episodes) -> gymnasium.spaces.Box:
    """In physical units."""
    return gymnasium.spaces.Box(
        episodes.low.astype(np.float32), episodes.high.astype(np.float32), dtype=np.float32
    )


def _action(action: Any, space: gymnasium.Space) -> jax.Array:
    if np.shape(action) != space.shape:
        raise DataError(f"action: expected an array {space.shape}, got {np.shape(action)}")
    return jnp.asarray(action)


class ModelEnv(gymnasium.Env):
    """One episode after the other, each on another plausible system."""

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes
        self.observation_space = observation_space(episodes)
        self.action_space = action_space(episodes)
        self._reset = jax.jit(episodes.reset)
        self._step = jax.jit(episodes.step)
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._episode, observation = self._reset(self._key())
        return np.array(observation), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("step: call reset first")
        given = _action(action, self.action_space)
        self._episode, outcome = self._step(self._episode, given, self._key())
        return (
            np.array(outcome.observation),
            float(outcome.reward),
            bool(outcome.terminated),
            bool(outcome.truncated),
            {},
        )

    def _key(self) -> jax.Array:
        return jax.random.key(int(self.np_random.integers(2**31)))


class ModelVectorEnv(VectorEnv):
    """Many episodes side by side in one compiled call.

    An ended one starts anew at the next step, whose action it ignores.
    """

    metadata = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, episodes: Episodes, count: int) -> None:
        self.episodes = episodes
        self.num_envs = count
        self.single_observation_space = observation_space(episodes)
        self.single_action_space = action_space(episodes)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._reset = jax.jit(lambda key: jax.vmap(episodes.reset)(jax.random.split(key, count)))
        self._step = jax.jit(self._stepped)
        self._episode: Episode | None = None
        self._ended = jnp.zeros(count, bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._episode, observation = self._reset(self._key())
        self._ended = jnp.zeros(self.num_envs, bool)
        return np.array(observation), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("step: call reset first")
        given = _action(actions, self.action_space)
        self._episode, observation, *told = self._step(
            self._episode, self._ended, given, self._key()
        )
        reward, terminated, truncated = (np.array(part) for part in told)
        self._ended = jnp.asarray(terminated | truncated)
        return np.array(observation), reward.astype(np.float64), terminated, truncated, {}

    def _stepped(
        self, episode: Episode, ended: jax.Array, actions: jax.Array, key: jax.Array
    ) -> tuple[Any, ...]:
        first, second = jax.random.split(key)
        moved, outcome = jax.vmap(self.episodes.step)(
            episode, actions, jax.random.split(first, self.num_envs)
        )
        fresh, _ = self._reset(second)

        def chosen(new: jax.Array, old: jax.Array) -> jax.Array:
            return jnp.where(ended.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        now = jax.tree.map(chosen, fresh, moved)
        reward = jnp.where(ended, 0.0, outcome.reward)
        terminated = outcome.terminated & ~ended
        truncated = outcome.truncated & ~ended
        return now, jax.vmap(observed)(now), reward, terminated, truncated

    def _key(self) -> jax.Array:
        return jax.random.key(int(self.np_random.integers(2**31)))
