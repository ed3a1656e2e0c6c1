"""A policy for the tanks, trained on systems that the learnt model finds plausible.

    pip install 'prssm[gym]'
    python examples/train_policy.py         # a few minutes; --quick: some seconds

Every episode is another system drawn from the posterior, with another target. The environment's
functions are JAX's, so the gradient of the reward goes through whole episodes; any library that
takes a Gymnasium environment could train on it instead. The policy is then tried on the true plant.
"""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tanks import PUMP, Tanks, learnt, staircase

import prssm

HISTORY = 6
HORIZON = 60  # steps of an episode
REST = 2.6  # volts before the policy begins


class Policy(eqx.Module):
    """Voltage from what was seen: last levels, last voltages, target."""

    network: eqx.nn.MLP
    centre: jax.Array
    spread: jax.Array

    def __init__(self, key, centre, spread):
        self.network = eqx.nn.MLP(2 * HISTORY + 1, 1, 24, 2, activation=jax.nn.tanh, key=key)
        self.centre = centre
        self.spread = spread

    def __call__(self, seen):
        fixed = jax.lax.stop_gradient((self.centre, self.spread))
        low, high = PUMP
        out = self.network((seen - fixed[0]) / fixed[1])
        return low + (high - low) * jax.nn.sigmoid(out)


def reward(output, input, target):
    return -jnp.sum((output - target) ** 2)


def trained(env, policy, *, iterations, batch):
    """Adam on the mean reward of `batch` episodes, each on a system of its own."""
    episodes = env.episodes

    def gained(policy, key):
        first, rest = jax.random.split(key)
        later = jax.random.split(rest, episodes.horizon)
        episode, seen = episodes.reset(first)

        def step(carry, key):
            episode, seen = carry
            episode, outcome = episodes.step(episode, policy(seen), key)
            return (episode, outcome.observation), outcome.reward

        return jnp.mean(jax.lax.scan(step, (episode, seen), later)[1])

    @eqx.filter_jit
    def improved(policy, kept, key):
        keys = jax.random.split(key, batch)
        value, slope = eqx.filter_value_and_grad(
            lambda policy: -jnp.mean(jax.vmap(lambda key: gained(policy, key))(keys))
        )(policy)
        change, kept = optimiser.update(slope, kept)
        return eqx.apply_updates(policy, change), kept, value

    schedule = optax.cosine_decay_schedule(0.01, iterations)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
    kept = optimiser.init(eqx.filter(policy, eqx.is_array))
    costs = []
    for key in jax.random.split(jax.random.key(0), iterations):
        policy, kept, value = improved(policy, kept, key)
        costs.append(float(value))
    return policy, costs


def on_the_plant(policy, targets):
    """Root mean square error on the true tanks."""
    plant = Tanks(seed=1, start=(REST**2, (REST / 1.1) ** 2))
    levels = [plant.measure()] * HISTORY
    inputs = [REST] * HISTORY
    decide = eqx.filter_jit(policy)
    errors = []
    for target in targets:
        levels = [plant.measure(), *levels[:-1]]
        errors.append(plant.level - target)
        voltage = float(decide(np.array([*levels, *inputs, target], np.float32))[0])
        plant.apply(voltage)
        inputs = [voltage, *inputs[:-1]]
    return float(np.sqrt(np.mean(np.square(errors))))


def main(quick=False):
    model = learnt(quick)
    train, _ = prssm.datasets.load("tanks_sim")
    env = prssm.env(
        model,
        reward,
        20 if quick else HORIZON,
        starts=train,
        inputs=PUMP,
        targets=(3.0, 8.0),
        history=HISTORY,
    )
    scaler = model.scaler_
    centre = np.repeat([scaler.y_mean[0], scaler.u_mean[0], 5.5], [HISTORY, HISTORY, 1])
    spread = np.repeat([scaler.y_std[0], scaler.u_std[0], 1.5], [HISTORY, HISTORY, 1])
    policy = Policy(jax.random.key(1), jnp.asarray(centre), jnp.asarray(spread))
    targets = staircase(100 if quick else 400, 4.0, 7.7)
    before = on_the_plant(policy, targets)
    policy, costs = trained(env, policy, iterations=12 if quick else 800, batch=8 if quick else 64)
    after = on_the_plant(policy, targets)
    print(f"cost of an episode {costs[0]:.2f} -> {np.mean(costs[-10:]):.2f}; ", end="")
    print(f"error on the true tanks {before:.3f} -> {after:.3f}")
    return before, after


if __name__ == "__main__":
    main("--quick" in sys.argv)
