import numpy as np
import pytest

from prssm.data.simulators import arm, rigid_body, simulate, simulate_with_truth

CHAIN = arm.chain(arm.ArmParameters())
RNG = np.random.default_rng(0)
Q = RNG.uniform(-2, 2, (7, 5))
SPEED = RNG.uniform(-2, 2, (7, 5))


def _centres_and_turns(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass centres (7, 3) and orientations (7, 3, 3) by multiplying rotation matrices, one arm, the
    slow way.
    """
    rotation = np.eye(3)
    position = np.zeros(3)
    centres = []
    turns = []
    for j, letter in enumerate(CHAIN.axes):
        c = np.cos(q[j])
        s = np.sin(q[j])
        local = (
            [[c, -s, 0], [s, c, 0], [0, 0, 1]]
            if letter == "z"
            else [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        )
        rotation = rotation @ np.array(local)
        centres.append(position + rotation @ CHAIN.centre[:, j])
        position = position + rotation @ CHAIN.offset[:, j]
        turns.append(rotation)
    return np.array(centres), np.array(turns)


def _kinetic(q: np.ndarray, speed: np.ndarray) -> float:
    """Kinetic energy from numerical velocities: of the centres, and of the rotations w = skew(R'
    R^T).
    """
    h = 1e-6
    (c1, r1) = _centres_and_turns(q + h * speed)
    (c0, r0) = _centres_and_turns(q - h * speed)
    _, middle = _centres_and_turns(q)
    velocity = (c1 - c0) / (2 * h)
    rate = (r1 - r0) / (2 * h)
    energy = 0.5 * np.sum(CHAIN.mass * (velocity**2).sum(axis=1)) + 0.5 * CHAIN.rotor @ speed**2
    for j in range(7):
        spin = rate[j] @ middle[j].T
        local = middle[j].T @ np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        energy += 0.5 * CHAIN.inertia[:, j] @ local**2
    return energy


def test_positions_equal_products_of_rotations():
    at = rigid_body.pose(CHAIN, Q)
    for b in range(5):
        np.testing.assert_allclose(at.centre[:, :, b].T, _centres_and_turns(Q[:, b])[0], atol=1e-12)


def test_mass_matrix_is_that_of_the_kinetic_energy():
    matrix = rigid_body.mass_matrix(CHAIN, rigid_body.pose(CHAIN, Q))
    np.testing.assert_allclose(matrix, matrix.swapaxes(0, 1), atol=1e-13)
    for b in range(5):
        assert np.linalg.eigvalsh(matrix[:, :, b]).min() > 0
        expected = _kinetic(Q[:, b], SPEED[:, b])
        assert 0.5 * SPEED[:, b] @ matrix[:, :, b] @ SPEED[:, b] == pytest.approx(
            expected, rel=1e-7
        )


def test_bias_equals_lagranges_equations():
    """h = M' q' - d/dq (T - V), with the derivatives of M and of the energies by central
    differences.
    """
    h = 1e-6

    def matrix(q):
        return rigid_body.mass_matrix(CHAIN, rigid_body.pose(CHAIN, q))

    def potential(q):
        return rigid_body.GRAVITY * CHAIN.mass @ rigid_body.pose(CHAIN, q).centre[2]

    slope = np.stack(
        [(matrix(Q + h * e[:, None]) - matrix(Q - h * e[:, None])) / (2 * h) for e in np.eye(7)]
    )
    gravity = np.stack(
        [
            (potential(Q + h * e[:, None]) - potential(Q - h * e[:, None])) / (2 * h)
            for e in np.eye(7)
        ]
    )
    moving = np.einsum("kijb,kb,jb->ib", slope, SPEED, SPEED) - 0.5 * np.einsum(
        "kijb,ib,jb->kb", slope, SPEED, SPEED
    )
    found = rigid_body.bias(CHAIN, rigid_body.pose(CHAIN, Q), SPEED)
    np.testing.assert_allclose(found, moving + gravity, atol=1e-6)


def test_energy_is_kept_without_torque_and_friction():
    state = np.concatenate([Q, 0.5 * SPEED])
    none = np.zeros(7)
    start = rigid_body.energy(CHAIN, state[:7], state[7:])
    drift = []
    for steps in (1, 2):
        now = state
        for _ in range(40):
            now = arm.advance(CHAIN, none, now, np.zeros((7, 5)), 0.01, steps)
        drift.append(np.abs(rigid_body.energy(CHAIN, now[:7], now[7:]) - start).max())
    assert drift[1] < 2e-4
    # a method of order four gains 16 or more when the step is halved
    assert drift[1] < drift[0] / 8
    assert np.abs(now[:7] - state[:7]).max() > 0.5  # it did move


def test_friction_takes_energy():
    state = np.concatenate([Q, SPEED])
    now = arm.advance(CHAIN, arm.FRICTION, state, np.zeros((7, 5)), 0.05, 10)
    assert np.all(
        rigid_body.energy(CHAIN, now[:7], now[7:]) < rigid_body.energy(CHAIN, state[:7], state[7:])
    )


def test_the_controller_tracks_and_the_torques_reproduce_the_motion():
    trajectory = simulate_with_truth("arm_sim", 60, process_std=0.0, output_std=0.0)[0]
    record = trajectory.record
    states = trajectory.states
    assert (record.u.shape, record.y.shape, record.dt) == ((60, 7), (60, 7), 0.01)
    replayed = states[0][:, None]
    for t in range(59):
        replayed = arm.advance(CHAIN, arm.FRICTION, replayed, record.u[t][:, None], 0.01, 4)
    np.testing.assert_allclose(replayed[:, 0], states[-1], atol=1e-5)
    assert np.ptp(record.y, axis=0).min() > 0.02


def test_experiments_stay_within_the_reach():
    for record in simulate("arm_sim", 100, 8):
        assert (
            np.abs(record.y - np.array([0.0, 0.6, 0.0, 1.0, 0.0, 0.5, 0.0])).max() < 0.9 + 0.2 + 0.1
        )
