import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from prssm.data.simulators import (
    SYSTEMS,
    drives,
    kink,
    parameters,
    simulate,
    simulate_with_truth,
    stream,
    tanks,
)
from prssm.foundation.errors import DataError, OptionError

SHORT = {"arm_sim": 12, "tanks_sim": 30, "drives_sim": 60, "kink": 60}


@pytest.mark.parametrize("name", SYSTEMS)
def test_equal_seeds_equal_records_and_experiments_do_not_depend_on_their_number(name):
    length = SHORT[name]
    first = simulate(name, length, 3, seed=4)
    again = simulate(name, length, 3, seed=4)
    alone = simulate(name, length, 1, seed=4)[0]
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.y, b.y)
        np.testing.assert_array_equal(a.u, b.u)
    np.testing.assert_allclose(alone.y, first[0].y, rtol=1e-12, atol=1e-12)
    assert not np.allclose(first[0].y, first[1].y)
    assert not np.allclose(alone.y, simulate(name, length, 1, seed=5)[0].y)
    assert [r.name for r in first] == [f"{name} {i}" for i in range(3)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_sensor_noise_has_the_stated_deviation(name):
    """Noise is what the record shows beyond its true states; its deviation is known up to the
    standard error.
    """
    trajectory = simulate_with_truth(name, 4 * SHORT[name], output_std=0.03)[0]
    clean = {
        "kink": lambda x: x,
        "drives_sim": lambda x: np.abs(x[:, 2:3]),
        "tanks_sim": lambda x: x[:, 1:],
        "arm_sim": lambda x: x[:, :7],
    }[name](trajectory.states)
    noise = trajectory.record.y - clean
    assert abs(noise.std() - 0.03) < 4 * 0.03 / np.sqrt(2 * noise.size)


def test_wrong_arguments_are_named():
    with pytest.raises(DataError, match=r"unknown simulator 'kinc'\. Did you mean 'kink'"):
        simulate("kinc")
    with pytest.raises(
        OptionError, match=r"unknown option 'proces_std'\. Did you mean 'process_std'"
    ):
        simulate("kink", proces_std=0.1)
    with pytest.raises(OptionError, match="length: expected a whole number of at least 2, got 1"):
        stream("kink", 1)
    with pytest.raises(OptionError, match="output_std: expected at least 0"):
        parameters("kink", output_std=-1.0)


def test_streaming_computes_only_what_is_asked_for():
    endless = stream("kink", 50, experiments=10**9)
    assert [t.record.name for t in itertools.islice(endless, 2)] == ["kink 0", "kink 1"]


def test_kink_follows_its_function():
    x = np.array([-1.0, 0.0, 2.0])
    by_hand = 0.8 + (x + 0.2) * (1 - 5 / (1 + np.exp(-2 * x)))
    np.testing.assert_allclose(kink.transition(x), by_hand, rtol=1e-14)
    quiet = simulate_with_truth("kink", 100, process_std=0.0, output_std=0.0)[0]
    np.testing.assert_array_equal(quiet.states[1:], kink.transition(quiet.states[:-1]))
    np.testing.assert_array_equal(quiet.record.y, quiet.states)
    assert quiet.record.input_dim == 0
    noisy = simulate_with_truth("kink", 2000, process_std=0.2)[0].states
    steps = noisy[1:] - kink.transition(noisy[:-1])
    assert abs(steps.std() - 0.2) < 4 * 0.2 / np.sqrt(2 * len(steps))


def _drive_energy(p, x):
    """Kinetic energy of the masses and elastic energy of belt and spring, for the state of
    `drives`.
    """
    mass = np.array([p.motor_mass, p.motor_mass, p.pulley_mass, p.hanger_mass])
    a = x[..., 4]
    b = x[..., 5]
    lift = x[..., 6]
    stretch = np.stack([a + lift, b + lift, -a - b])
    return 0.5 * (
        x[..., :4] ** 2 @ mass
        + p.belt_stiffness * (stretch**2).sum(0)
        + p.spring_stiffness * lift**2
    )


def test_drives_without_friction_keep_their_energy():
    p = parameters(
        "drives_sim",
        motor_friction=1e-300,
        pulley_friction=0.0,
        belt_damping=0.0,
        spring_damping=0.0,
    )
    A, _ = drives.discrete_system(p)
    x = [np.array([1.0, -0.5, 0.3, 0.2, 0.1, -0.2, 0.05])]
    for _ in range(500):
        x.append(A @ x[-1])
    energy = _drive_energy(p, np.array(x))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)


def test_drives_step_equals_an_ode_solver():
    p = parameters("drives_sim")
    A, B = drives.continuous_system(p)
    start = np.array([1.0, -0.5, 0.3, 0.2, 0.1, -0.2, 0.05])
    u = 0.7
    solved = solve_ivp(
        lambda _, x: A @ x + B[:, 0] * u, (0, p.dt), start, rtol=1e-11, atol=1e-13
    ).y[:, -1]
    step_A, step_B = drives.discrete_system(p)
    np.testing.assert_allclose(step_A @ start + step_B[:, 0] * u, solved, atol=1e-9)
    assert np.linalg.eigvals(A).real.max() < 0


def test_drives_lose_the_sign_of_the_speed():
    trajectory = simulate_with_truth("drives_sim", 1000, output_std=0.0)[0]
    speed = trajectory.states[:, drives.PULLEY_SPEED]
    assert speed.min() < -0.3
    assert speed.max() > 0.3
    np.testing.assert_array_equal(trajectory.record.y[:, 0], np.abs(speed))
    assert set(np.diff(np.flatnonzero(np.diff(trajectory.record.u[:, 0])))) <= {5, 10, 15, 20}


def test_tanks_rest_where_inflow_equals_outflow():
    """sqrt(h1) = k_pump u / k_out1 and sqrt(h2) = k_in2 sqrt(h1) / k_out2."""
    p = parameters("tanks_sim")
    root1 = p.pump_gain * 2.0 / p.upper_outflow
    root2 = p.lower_inflow * root1 / p.lower_outflow
    np.testing.assert_allclose(
        tanks.rates(p, np.array([root1**2, root2**2]), np.array(2.0)), 0.0, atol=1e-15
    )
    still = simulate_with_truth("tanks_sim", 800, pump_std=0.0, pump_mean=2.0, process_std=0.0)[0]
    np.testing.assert_allclose(still.states[-1], [root1**2, root2**2], rtol=1e-6)


def test_a_full_tank_spills_its_share():
    p = parameters("tanks_sim")
    full = np.array([p.height, 4.0])
    below = np.array([p.height - 1e-12, 4.0])
    kept = tanks.rates(p, below, np.array(6.0))
    spilled = tanks.rates(p, full, np.array(6.0))
    assert kept[0] > 0
    assert spilled[0] == 0
    assert spilled[1] - kept[1] == pytest.approx(p.spill_share * kept[0], rel=1e-9)


def test_tanks_overflow_and_the_sensor_saturates():
    trajectory = simulate_with_truth("tanks_sim", 600, pump_mean=4.5)[0]
    assert (trajectory.states[:, 0] == 10.0).any()
    assert trajectory.record.y.max() == parameters("tanks_sim").sensor_limit
    assert trajectory.states.min() >= 0.0
