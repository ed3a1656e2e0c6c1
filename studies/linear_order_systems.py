"""Systems with modes that few rows hardly show, for the study of linear orders.

    train, unseen = arm(3)      # lists of Records

One number is one system, always the same.
"""

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators.excitation import smooth
from prssm.data.simulators.system import integrate

Parts = tuple[list[Record], list[Record]]
RUN_IN = 200  # rows that are dropped, so that a recording does not begin at rest
UNSEEN = 800


def arm(number: int) -> Parts:
    """Slow motion and one to three modes with little damping; two of three have some friction."""
    rng = np.random.default_rng([901, number])
    rows = int(rng.choice([300, 512, 800, 1200]))
    modes = int(rng.integers(1, 4))
    turn = np.exp(rng.uniform(np.log(0.15), np.log(1.2), modes))
    damping = np.exp(rng.uniform(np.log(0.01), np.log(0.06), modes))
    gain = rng.uniform(0.3, 1.0, modes) * rng.choice([-1.0, 1.0], modes)
    friction = float(rng.choice([0.0, 0.03, 0.1]))
    stiffness = rng.uniform(0.002, 0.02)
    length = RUN_IN + rows + UNSEEN
    u = smooth(rng, length, rng.uniform(0.08, 0.25)) + 0.5 * smooth(rng, length, 0.02)

    def slope(x: np.ndarray, u: float) -> np.ndarray:
        force = u - friction * np.tanh(x[1] / 0.05)
        change = np.empty_like(x)
        change[0] = x[1]
        change[1] = 0.2 * force - 0.05 * x[1] - stiffness * x[0]
        change[2::2] = x[3::2]
        change[3::2] = force - 2.0 * damping * turn * x[3::2] - turn**2 * x[2::2]
        return change

    x = integrate(slope, np.zeros(2 + 2 * modes), u, dt=1.0, finer=4)
    return cut(rng, u, x[:, 3::2] @ gain + 0.3 * x[:, 1], rows=rows, noise=(0.003, 0.03))


def structure(number: int) -> Parts:
    """Three to six modes; two of three have a joint whose stiffness depends on its motion."""
    rng = np.random.default_rng([902, number])
    rows = int(rng.choice([500, 1000, 2000]))
    modes = int(rng.integers(3, 7))
    turn = np.sort(rng.uniform(0.1, 0.9, modes))
    gain = rng.uniform(0.4, 1.0, modes) * rng.choice([-1.0, 1.0], modes)
    damping = rng.uniform(0.01, 0.03)
    bend = float(rng.choice([0.0, 5e-6, 2e-5]))
    u = smooth(rng, RUN_IN + rows + UNSEEN, 0.15)

    def slope(x: np.ndarray, u: float) -> np.ndarray:
        joint = gain @ x[:modes]
        force = u - bend * joint**3 / (1.0 + 0.001 * joint**2)
        faster = gain * force - 2.0 * damping * turn * x[modes:] - turn**2 * x[:modes]
        return np.concatenate([x[modes:], faster])

    x = integrate(slope, np.zeros(2 * modes), u, dt=1.0, finer=3)
    return cut(rng, u, (x[:, modes:] * turn) @ gain, rows=rows, noise=(0.003, 0.05))


def several_outputs(number: int) -> Parts:
    """Two or three outputs of up to ten states: resonances, and a lag where their number is odd."""
    rng = np.random.default_rng([903, number])
    rows = int(rng.choice([250, 500, 1000]))
    outputs = int(rng.integers(2, 4))
    inputs = int(rng.integers(1, 4))
    order = int(rng.integers(2, 11))
    A = _rotations(rng, order)
    B = rng.normal(size=(order, inputs))
    length = RUN_IN + rows + UNSEEN
    corner = np.exp(rng.uniform(np.log(0.05), np.log(0.3)))
    u = np.stack([smooth(rng, length, corner) for _ in range(inputs)], axis=1)
    x = np.zeros((length, order))
    for t in range(1, length):
        x[t] = A @ x[t - 1] + B @ u[t - 1]
    y = (x / x[RUN_IN:].std(axis=0)) @ rng.normal(size=(order, outputs))
    return cut(rng, u, y, rows=rows, noise=(0.005, 0.2))


def _rotations(rng: np.random.Generator, order: int) -> np.ndarray:
    """Blocks of two states that turn and fade, and one that fades where the order is odd."""
    A = np.zeros((order, order))
    for at in range(0, order - 1, 2):
        turn = 2.0 * np.pi * np.exp(rng.uniform(np.log(0.01), np.log(0.3)))
        fade = np.exp(-turn * np.exp(rng.uniform(np.log(0.03), np.log(0.9))))
        A[at : at + 2, at : at + 2] = fade * np.array(
            [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        )
    if order % 2:
        A[-1, -1] = np.exp(-1.0 / rng.uniform(1.0, 30.0))
    return A


def cut(
    rng: np.random.Generator,
    u: np.ndarray,
    y: np.ndarray,
    *,
    rows: int,
    noise: tuple[float, float],
) -> Parts:
    """What is learnt from and what is predicted, with noise between these parts of the output."""
    u = u.reshape(len(u), -1)[RUN_IN:]
    y = y.reshape(len(y), -1)[RUN_IN:]
    size = np.exp(rng.uniform(*np.log(noise)))
    y = y + size * y.std(axis=0) * rng.normal(size=y.shape)
    return [Record(u[:rows], y[:rows])], [Record(u[rows:], y[rows:])]
