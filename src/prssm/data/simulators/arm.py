"""A torque-driven arm with seven joints at 100 Hz.

A controller tracks smooth random motions; its torques are the inputs, the joint angles the outputs.
The equations of motion are in `rigid_body`; here are the arm's numbers and the experiment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators import rigid_body
from prssm.data.simulators.rigid_body import Chain
from prssm.data.simulators.system import System, Trajectory
from prssm.foundation.options import Options, option

JOINTS = 7
# of the links, in metres, along their own z axis
LENGTH = np.array([0.20, 0.10, 0.30, 0.10, 0.25, 0.08, 0.10])
MASS = np.array([4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5])  # in kilograms
ROTOR = np.array([0.10, 0.10, 0.08, 0.06, 0.04, 0.02, 0.02])  # in kg m^2
RADIUS = 0.05  # of the links, taken as solid cylinders
FRICTION = np.array([1.0, 1.0, 0.8, 0.6, 0.4, 0.2, 0.2])  # in N m s
WAVES = 3  # sines in the motion of a joint


@dataclass(frozen=True)
class ArmParameters(Options):
    """The arm's load and friction, its controller, and the motions that it tracks."""

    dt: float = option(0.01, "sampling time in seconds", above=0.0)
    substeps: int = option(1, "Runge-Kutta steps in a sample", minimum=1)
    payload: float = option(0.5, "mass in the hand, in kilograms", minimum=0.0)
    friction: float = option(1.0, "viscous friction, relative to the arm's own", minimum=0.0)
    bandwidth: float = option(1.5, "of the controller, in hertz", above=0.0)
    lowest: float = option(0.1, "lowest frequency of the motions, in hertz", above=0.0)
    highest: float = option(0.7, "highest frequency of the motions, in hertz", above=0.0)
    reach: float = option(
        0.9, "largest deviation of a joint from the middle of its range, in radians", above=0.0
    )
    process_std: float = option(
        0.05, "standard deviation of unmeasured torques, in N m", minimum=0.0
    )
    output_std: float = option(
        1e-4, "standard deviation of the angle sensors' noise, in radians", minimum=0.0
    )


def chain(parameters: ArmParameters) -> Chain:
    """The links as solid cylinders; the payload is a point at the hand's end."""
    offset = np.stack([np.zeros(JOINTS), np.zeros(JOINTS), LENGTH])
    across = MASS * (3.0 * RADIUS**2 + LENGTH**2) / 12.0
    inertia = np.stack([across, across, MASS * RADIUS**2 / 2.0])
    mass = MASS.copy()
    centre = 0.5 * offset
    load = parameters.payload
    mass[-1] += load
    centre[2, -1] = (0.5 * MASS[-1] + load) * LENGTH[-1] / mass[-1]
    # two masses about their common centre
    inertia[:2, -1] += MASS[-1] * load / mass[-1] * (0.5 * LENGTH[-1]) ** 2
    return Chain("zyzyzyz", offset, centre, mass, inertia, ROTOR)


def rates(arm: Chain, friction: np.ndarray, state: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """Time derivative of the state (q, q') of shape (14, B)."""
    q = state[:JOINTS]
    speed = state[JOINTS:]
    return np.concatenate(
        [speed, rigid_body.acceleration(arm, q, speed, torque=torque - friction[:, None] * speed)]
    )


def advance(
    arm: Chain,
    friction: np.ndarray,
    state: np.ndarray,
    torque: np.ndarray,
    dt: float,
    substeps: int,
) -> np.ndarray:
    """The state after dt seconds of a held torque, by the classical Runge-Kutta method."""
    h = dt / substeps
    for _ in range(substeps):
        k1 = rates(arm, friction, state, torque=torque)
        k2 = rates(arm, friction, state + 0.5 * h * k1, torque=torque)
        k3 = rates(arm, friction, state + 0.5 * h * k2, torque=torque)
        k4 = rates(arm, friction, state + h * k3, torque=torque)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state


@dataclass(frozen=True, eq=False)
class Motion:
    """Smooth random motions of B arms: each joint a sum of sines.

    All arrays (WAVES, J, B) but the middle (J, B).
    """

    middle: np.ndarray
    amplitude: np.ndarray
    pulsation: np.ndarray
    phase: np.ndarray

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angles, speeds and accelerations (J, B) at a moment."""
        angle = self.pulsation * time + self.phase
        sine = self.amplitude * np.sin(angle)
        cosine = self.amplitude * np.cos(angle)
        return (
            self.middle + sine.sum(0),
            (self.pulsation * cosine).sum(0),
            -(self.pulsation**2 * sine).sum(0),
        )


def _motion(p: ArmParameters, generators: Sequence[np.random.Generator]) -> Motion:
    shape = (WAVES, JOINTS)
    draws = [
        (
            rng.uniform(-0.2, 0.2, JOINTS),
            rng.uniform(0.3, 1.0, shape),
            rng.uniform(p.lowest, p.highest, shape),
            rng.uniform(0.0, 2.0 * np.pi, shape),
        )
        for rng in generators
    ]
    middle, amplitude, frequency, phase = (
        np.stack(parts, axis=-1) for parts in zip(*draws, strict=True)
    )
    # a posture in which gravity acts on all links
    bent = np.array([0.0, 0.6, 0.0, 1.0, 0.0, 0.5, 0.0])
    return Motion(
        middle + bent[:, None], p.reach / WAVES * amplitude, 2.0 * np.pi * frequency, phase=phase
    )


def run(
    parameters: ArmParameters, length: int, generators: Sequence[np.random.Generator]
) -> list[Trajectory]:
    """Experiments side by side; each starts on its motion."""
    p = parameters
    arm = chain(parameters)
    friction = parameters.friction * FRICTION
    motion = _motion(p, generators)
    disturbance = p.process_std * _noise(length, generators)
    states = np.empty((length, 2 * JOINTS, len(generators)))
    torques = np.empty((length, JOINTS, len(generators)))
    state = np.concatenate(motion.at(0.0)[:2])
    for t in range(length):
        states[t] = state
        torques[t] = _controller(p, arm, friction, target=motion.at(t * p.dt), state=state)
        if t + 1 < length:
            state = advance(
                arm,
                friction,
                state,
                torque=torques[t] + disturbance[t],
                dt=p.dt,
                substeps=p.substeps,
            )
    measured = states[:, :JOINTS] + p.output_std * _noise(length, generators)
    numbers = range(1, JOINTS + 1)
    named: dict[str, Any] = {
        "input_names": [f"torque{i}" for i in numbers],
        "output_names": [f"q{i}" for i in numbers],
    }
    return [
        Trajectory(Record(torques[..., i], measured[..., i], p.dt, **named), states[..., i].copy())
        for i in range(len(generators))
    ]


def _noise(length: int, generators: Sequence[np.random.Generator]) -> np.ndarray:
    return np.stack([rng.standard_normal((length, JOINTS)) for rng in generators], axis=-1)


def _controller(
    p: ArmParameters,
    arm: Chain,
    friction: np.ndarray,
    target: tuple[np.ndarray, np.ndarray, np.ndarray],
    state: np.ndarray,
) -> np.ndarray:
    """The torques that make the arm follow its motion.

    They are those of the equations of motion, plus a correction of the tracking error scaled by the
    inertia.
    """
    q, speed, wanted = target
    pulsation = 2.0 * np.pi * p.bandwidth
    corrected = (
        wanted + pulsation**2 * (q - state[:JOINTS]) + 2.0 * pulsation * (speed - state[JOINTS:])
    )
    at = rigid_body.pose(arm, q)
    needed = np.einsum("ijb,jb->ib", rigid_body.mass_matrix(arm, at), corrected)
    return needed + rigid_body.bias(arm, at, speed) + friction[:, None] * speed


ARM = System(
    "arm_sim",
    "Seven-joint arm (simulated): joint torques to joint angles",
    ArmParameters,
    run=run,
    batch=128,
)
