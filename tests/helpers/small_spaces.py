"""Small state-space models whose filters can be worked out by hand, for tests."""

import numpy as np

from prssm.inference.spaces.linear_space import LinearSpace, Noises
from prssm.inference.state_space import Belief, Local, StateSpace
from prssm.linear.system import LinearSystem

SYSTEM = LinearSystem(
    np.array([[0.9, 0.3], [-0.2, 0.7]]),
    np.array([[0.5, 0.1], [-0.3, 0.4]]),
    np.array([[1.0, 0.2], [0.3, -0.8]]),
    D=np.array([[0.2, 0.0], [0.0, -0.1]]),
    offset=np.array([0.4, -0.2]),
)
NOISES = Noises(
    np.array([[0.3, 0.1], [0.1, 0.2]]),
    np.array([0.4, 0.3]),
    coloured_std=np.array([0.5, 0.2]),
    memory=np.array([0.8, 0.3]),
    second=np.array([0.5, 0.0]),
)
FIRST_MEAN = np.array([0.5, -0.3])
FIRST_COVARIANCE = np.array([[1.0, 0.2], [0.2, 0.8]])


def linear_space(*noises: Noises) -> LinearSpace:
    return LinearSpace(
        SYSTEM,
        list(noises) or [NOISES],
        first_mean=FIRST_MEAN,
        first_covariance=FIRST_COVARIANCE,
    )


def measurements(rows: int = 9, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outputs with one channel, then both, missing."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((rows, 2))
    y = rng.standard_normal((rows, 2))
    y[2, 0] = np.nan
    y[4] = np.nan
    return u, y


def joint(space: StateSpace, u: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean and covariance of all states of a linear model, stacked, and of all outputs.

    Brute force: every pair of rows is written down, and nothing is recursive but the powers of A.
    """
    n = space.state_dim
    rows = len(u)
    first = space.first()
    still = np.zeros((1, 1, n))
    _, A, Q = (part[0, 0] for part in space.step(still, u[:1]))
    _, C, R = (part[0, 0] for part in space.output(still, u[:1]))
    drift = [space.step(still, u[t : t + 1]).value[0, 0] for t in range(rows)]
    shown = [space.output(still, u[t : t + 1]).value[0, 0] for t in range(rows)]
    # x = T [x_1; w_1; ..; w_{T-1}], with T of blocks A^(t - s)
    T = np.zeros((rows, n, rows, n))
    for t in range(rows):
        for s in range(t + 1):
            T[t, :, s] = np.linalg.matrix_power(A, t - s)
    T = T.reshape(rows * n, rows * n)
    spread = np.kron(np.eye(rows), Q)
    spread[:n, :n] = first.covariance[0, 0]
    push = np.concatenate([first.mean[0, 0], *drift[:-1]])
    mean = T @ push
    covariance = T @ spread @ T.T
    wide = np.kron(np.eye(rows), C)
    noise = np.kron(np.eye(rows), R)
    return mean, covariance, wide @ mean + np.concatenate(shown), wide, noise


class Bend(StateSpace):
    """Two members: x' = a x + b sin(x) + u + w, y = x + 0.05 x^2 + e."""

    members = 2
    state_dim = 1
    output_dim = 1

    def __init__(self, process_std: float = 0.2, output_std: float = 0.2) -> None:
        self.a = np.array([0.8, 0.6])[:, None, None]
        self.b = np.array([0.5, 0.3])[:, None, None]
        self.process_var = process_std**2
        self.output_var = output_std**2

    def first(self) -> Belief:
        return Belief(np.zeros((2, 1, 1)), np.full((2, 1, 1, 1), 0.25))

    def step(self, x, u):
        slope = self.a + self.b * np.cos(x)
        noise = np.full((*x.shape, 1), self.process_var)
        return Local(self.a * x + self.b * np.sin(x) + u, slope[..., None], noise)

    def output(self, x, u):
        noise = np.full((*x.shape, 1), self.output_var)
        return Local(x + 0.05 * x**2, (1.0 + 0.1 * x)[..., None], noise)


def simulated(space: StateSpace, u: np.ndarray, rng: np.random.Generator, member: int = 0):
    """States (T, Dx) and outputs (T, Dy) drawn from one member of a model."""
    first = space.first()
    x = rng.multivariate_normal(first.mean[member, 0], first.covariance[member, 0])
    states = []
    outputs = []
    for t in range(len(u)):
        here = np.broadcast_to(x, (space.members, 1, len(x)))
        y, _, R = (part[min(member, len(part) - 1), 0] for part in space.output(here, u[t : t + 1]))
        states.append(x)
        outputs.append(y + np.sqrt(np.diag(R)) * rng.standard_normal(len(y)))
        mean, _, Q = (
            part[min(member, len(part) - 1), 0] for part in space.step(here, u[t : t + 1])
        )
        x = rng.multivariate_normal(mean, Q)
    return np.array(states), np.array(outputs)
