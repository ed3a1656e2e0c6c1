"""Free runs of a network over a record, and the normal equations of their errors.

Compiled where the native library is there; what stands here is the same in NumPy, and the oracle.
"""

import numpy as np

from prssm.dynamics.engines.choice import compiled_network, trainer_why_not
from prssm.dynamics.networks.system import NetworkSystem, Shape

_LOST = 1e6  # a state beyond this, in scaled units, has run away


def free_run(row: np.ndarray, shape: Shape, u: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """States (T, Dx) and outputs (T, Dy); `row` ends with the first state. None: it is lost."""
    if trainer_why_not() is None:
        return compiled_network.network_run(shape, row, u)
    return plain_run(row, shape, u)


def equations(
    row: np.ndarray, shape: Shape, u: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """J'J, J'e and e'e over what was measured, with e = run - measured and J its derivative.

    None where the run is lost.
    """
    if trainer_why_not() is None:
        return compiled_network.network_equations(shape, row, u, y)
    return plain_equations(row, shape, u, y=y)


def plain_run(row: np.ndarray, shape: Shape, u: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """`free_run` in NumPy."""
    system = NetworkSystem.of_row(row, shape)
    x = np.empty((len(u), shape.states))
    x[0] = row[shape.shared :]
    for t in range(len(u) - 1):
        v = np.append(x[t], u[t])
        neurons = np.tanh(system.neuron_weight @ v + system.neuron_bias)
        x[t + 1] = system.weight @ v + system.bias + system.neuron_out @ neurons
        if not np.abs(x[t + 1]).max() < _LOST:
            return None
    return x, x @ system.C.T + u @ system.D.T + system.offset


def plain_equations(
    row: np.ndarray, shape: Shape, u: np.ndarray, *, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """`equations` in NumPy."""
    run = plain_run(row, shape, u)
    if run is None:
        return None
    jacobian = plain_jacobian(row, shape, u, x=run[0])
    known = ~np.isnan(y)
    off = (run[1] - y)[known]
    measured = jacobian[known]
    return measured.T @ measured, measured.T @ off, float(off @ off)


def plain_jacobian(row: np.ndarray, shape: Shape, u: np.ndarray, *, x: np.ndarray) -> np.ndarray:
    """Derivative (T, Dy, size) of the outputs by all parameters, along the states of a run."""
    system = NetworkSystem.of_row(row, shape)
    n = shape.states
    begins = _begins(shape)
    slope = np.zeros((n, shape.size))
    slope[:, shape.shared :] = np.eye(n)
    found = np.zeros((len(u), shape.outputs, shape.size))
    each = np.arange(n)
    for t, (state, inputs) in enumerate(zip(x, u, strict=True)):
        found[t] = system.C @ slope
        for o in range(shape.outputs):
            found[t, o, begins["C"] + o * n :][:n] += state
            found[t, o, begins["D"] + o * shape.inputs :][: shape.inputs] += inputs
            found[t, o, begins["offset"] + o] += 1.0
        v = np.append(state, inputs)
        neurons = np.tanh(system.neuron_weight @ v + system.neuron_bias)
        through = system.neuron_out * (1.0 - neurons**2)
        slope = (system.weight + through @ system.neuron_weight)[:, :n] @ slope
        by_weight = slope[:, : begins["bias"]].reshape(n, n, -1)
        by_weight[each, each] += v
        slope[each, begins["bias"] + each] += 1.0
        by_out = slope[:, begins["neuron_out"] : begins["neuron_weight"]].reshape(n, n, -1)
        by_out[each, each] += neurons
        by_in = slope[:, begins["neuron_weight"] : begins["neuron_bias"]]
        by_in += (through[:, :, None] * v).reshape(n, -1)
        slope[:, begins["neuron_bias"] : begins["C"]] += through
    return found


def _begins(shape: Shape) -> dict[str, int]:
    parts = shape.parts()
    ends = np.cumsum([0, *(int(np.prod(part)) for part in parts.values())])
    return dict(zip(parts, ends.tolist(), strict=False))
