"""Coupled electric drives: two motors turn an elastic belt over a pulley on a spring.

The sensor loses the speed's sign.

Belt positions at motor 1, motor 2 and the pulley are s1, s2, sp; the pulley hangs on a spring and
may move by x. The three spans stretch by  e1 = sp - s1 + x,  e2 = s2 - sp + x,  e3 = s1 - s2,  and
with the belt's stiffness k and damping c,

    m s1'' = g1 u - b s1' + T1 - T3,   m s2'' = g2 u - b s2' - T2 + T3,   T_i = k e_i + c e_i'
    mp sp'' = -bp sp' - T1 + T2,       mx x'' = -kx x - dx x' - T1 - T2

which is linear; only the sensor, y = |sp'| + noise, is not. Only differences of the positions
matter, so the state is (s1', s2', sp', x', sp - s1, s2 - sp, x), and it is stepped exactly for an
input that is held over each sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators.system import System, Trajectory, random_levels
from prssm.foundation.options import Options, option

PULLEY_SPEED = 2  # its place in the state


@dataclass(frozen=True)
class DrivesParameters(Options):
    """Physical parameters of the drives, and the staircase of voltages that excites them."""

    dt: float = option(0.02, "sampling time in seconds", above=0.0)
    motor_mass: float = option(0.5, "inertia of a motor, seen at the belt", above=0.0)
    pulley_mass: float = option(
        0.25, "inertia of the pulley's rotation, seen at the belt", above=0.0
    )
    hanger_mass: float = option(0.5, "mass of the pulley on its spring", above=0.0)
    motor_gain_1: float = option(2.0, "belt force of motor 1 for one volt", minimum=0.0)
    motor_gain_2: float = option(1.6, "belt force of motor 2 for one volt", minimum=0.0)
    motor_friction: float = option(1.2, "viscous friction of a motor", above=0.0)
    pulley_friction: float = option(0.2, "viscous friction of the pulley", minimum=0.0)
    belt_stiffness: float = option(25.0, "stiffness of a span of the belt", above=0.0)
    belt_damping: float = option(0.25, "damping of a span of the belt", minimum=0.0)
    spring_stiffness: float = option(60.0, "stiffness of the pulley's spring", above=0.0)
    spring_damping: float = option(1.0, "damping of the pulley's spring", minimum=0.0)
    low: float = option(-2.0, "lowest voltage")
    high: float = option(2.2, "highest voltage")
    hold: int = option(5, "a voltage is held for one to four times this many samples", minimum=1)
    process_std: float = option(
        0.01, "standard deviation of the unmeasured part of the voltage", minimum=0.0
    )
    output_std: float = option(0.02, "standard deviation of the sensor noise", minimum=0.0)


def continuous_system(p: DrivesParameters) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of x' = A x + B u, for the state (s1', s2', sp', x', sp - s1, s2 - sp, x)."""
    #                     s1'  s2'  sp'  x'  a  b  x      with a = sp - s1, b = s2 - sp
    stretch = np.array(
        [
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, -1.0, -1.0, 0.0],
        ]
    )
    rates = np.array(
        [
            [-1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, -1.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
    tension = p.belt_stiffness * stretch + p.belt_damping * rates
    # forces on s1, s2, sp, x: minus the gradient of the belt's energy, and its damping
    pull = -rates[:, :4].T @ tension
    mass = np.array([p.motor_mass, p.motor_mass, p.pulley_mass, p.hanger_mass])
    pull[range(4), range(4)] -= [
        p.motor_friction,
        p.motor_friction,
        p.pulley_friction,
        p.spring_damping,
    ]
    pull[3, 6] -= p.spring_stiffness
    kinematics = np.zeros((3, 7))
    kinematics[0, [0, 2]] = -1.0, 1.0
    kinematics[1, [1, 2]] = 1.0, -1.0
    kinematics[2, 3] = 1.0
    B = np.zeros((7, 1))
    B[:2, 0] = p.motor_gain_1 / p.motor_mass, p.motor_gain_2 / p.motor_mass
    return np.concatenate([pull / mass[:, None], kinematics]), B


def discrete_system(p: DrivesParameters) -> tuple[np.ndarray, np.ndarray]:
    """Exact step over one sampling time for a held input: x_{t+1} = A x_t + B u_t."""
    from scipy.linalg import expm  # here, so that listing the data sets does not wait for scipy

    A, B = continuous_system(p)
    block = np.zeros((8, 8))
    block[:7] = np.hstack([A, B]) * p.dt
    step = expm(block)
    return step[:7, :7], step[:7, 7:]


def run(
    parameters: DrivesParameters, length: int, generators: Sequence[np.random.Generator]
) -> list[Trajectory]:
    A, B = discrete_system(parameters)
    return [_run_one(parameters, A, B[:, 0], length=length, rng=rng) for rng in generators]


def _run_one(
    p: DrivesParameters, A: np.ndarray, B: np.ndarray, length: int, rng: np.random.Generator
) -> Trajectory:
    u = random_levels(length, p.low, p.high, hold=p.hold, rng=rng)
    voltage = u + p.process_std * rng.standard_normal(length)
    states = np.zeros((length, len(B)))  # starts at rest
    for t in range(length - 1):
        states[t + 1] = A @ states[t] + B * voltage[t]
    y = np.abs(states[:, PULLEY_SPEED]) + p.output_std * rng.standard_normal(length)
    record = Record(u, y, p.dt, input_names=["voltage"], output_names=["speed"])
    return Trajectory(record, states)


DRIVES = System(
    "drives_sim",
    "Coupled electric drives (simulated): voltage to the magnitude of the pulley's speed",
    DrivesParameters,
    run=run,
)
