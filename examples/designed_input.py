"""An input that is designed by gradient: bring the tanks to a level, and hold it, with little pump.

    python examples/designed_input.py       # a minute of training; --quick: some seconds

The gradient of the whole free run with respect to every voltage comes from `model.as_jax()`. What
was designed on the learnt model is then given to the true plant.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tanks import PUMP, Tanks, learnt

STEPS = 80
TARGET = 7.0
REST = 2.6  # volts before the design begins


def designed(model, u, y, iterations):
    """Voltages (STEPS, 1) after the first samples (u, y), and the levels that the model expects."""
    functions = model.as_jax(samples=16)
    window = len(y)
    low, high = PUMP

    def levels(free):
        voltage = low + (high - low) * jax.nn.sigmoid(free)
        inputs = jnp.concatenate([u, voltage])
        state = functions.start(functions.system, inputs, y)
        mean, std = functions.simulate(functions.system, state, inputs)
        return voltage, mean[window:], std[window:]

    @jax.jit
    @jax.value_and_grad
    def cost(free):
        voltage, mean, std = levels(free)
        # the band counts as well: a level that is sure is worth more than one that may be
        wrong = jnp.mean((mean - TARGET) ** 2 + std**2)
        return wrong + 0.02 * jnp.mean(jnp.diff(voltage, axis=0) ** 2)

    free = jnp.zeros((STEPS, 1))
    optimiser = optax.adam(0.1)
    kept = optimiser.init(free)
    for _ in range(iterations):
        value, slope = cost(free)
        change, kept = optimiser.update(slope, kept)
        free = optax.apply_updates(free, change)
    voltage, mean, std = levels(free)
    return np.asarray(voltage), np.asarray(mean), np.asarray(std), float(value)


def main(quick=False):
    model = learnt(quick)
    plant = Tanks(seed=1, start=(REST**2, (REST / 1.1) ** 2))
    y = []
    for _ in range(model.warmup):
        y.append([plant.measure()])
        plant.apply(REST)
    u = np.full((model.warmup, 1), REST)
    voltage, mean, std, _ = designed(model, u, np.array(y), 40 if quick else 300)
    reached = []
    for one in voltage[:, 0]:
        reached.append(plant.level)
        plant.apply(float(one))
    reached = np.array(reached)
    settled = reached[STEPS // 2 :]
    error = float(np.sqrt(np.mean((settled - TARGET) ** 2)))
    inside = float(np.mean(np.abs(reached - mean[:, 0]) < 2.0 * std[:, 0]))
    print(f"true level in the second half: {settled.mean():.2f}, asked for {TARGET}, ", end="")
    print(f"error {error:.3f}; {inside:.0%} of the true levels inside the model's band")
    return error, inside


if __name__ == "__main__":
    main("--quick" in sys.argv)
