"""Random systems: reproducible, bounded, with the noise they say; and their excitation."""

import numpy as np
import pytest

from prssm.data.simulators.excitation import EXCITATIONS, on_off, sines
from prssm.data.simulators.random_systems import (
    KINDS,
    Excitation,
    linear,
    play,
    random_recording,
)
from prssm.data.simulators.system import integrate


def test_one_number_is_one_system() -> None:
    first = random_recording(3)
    again = random_recording(3)
    np.testing.assert_array_equal(first.train.y, again.train.y)
    np.testing.assert_array_equal(first.test.u, again.test.u)
    assert first.facts == again.facts
    assert not np.array_equal(random_recording(4).train.y[:200], first.train.y[:200])


def test_recordings_have_the_rows_and_the_spread_that_the_facts_say() -> None:
    for number in range(6):
        found = random_recording(number)
        assert len(found.train) == found.facts["rows"]
        assert found.train.y.shape[1] == found.test.y.shape[1] == len(found.noise_std)
        assert np.isfinite(found.train.y).all()
        assert found.train.y.std() > 0.0
        quantum = found.facts["quantum"]
        if quantum:  # few different values: a coarse scale
            assert len(np.unique(found.train.y[:, 0])) < 10.0 / quantum + 20


def test_some_test_inputs_are_like_the_training_input_and_some_are_not() -> None:
    facts = [random_recording(number).facts for number in range(12)]
    assert {True, False} == {fact["unlike"] for fact in facts}
    alike = [fact for fact in facts if not fact["unlike"]]
    assert all(fact["input"] == fact["test_input"] for fact in alike)


def test_a_switch_keeps_its_levels_in_a_test_part_that_is_unlike() -> None:
    rng = np.random.default_rng(0)
    switch = Excitation("on-off", pace=8.0, size=1.0, offset=0.5)
    other = switch.unlike(rng)
    assert set(other.draw(rng, 300)) == set(switch.draw(rng, 300)) == {-0.5, 1.5}
    assert other.pace != switch.pace


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_causal(kind: str) -> None:
    block = KINDS[kind](np.random.default_rng(1))
    drive = np.random.default_rng(2).normal(size=60)
    changed = drive.copy()
    changed[40:] += 1.0
    y = block(drive)
    other = block(changed)
    assert y.shape == drive.shape
    np.testing.assert_array_equal(y[:40], other[:40])
    assert np.abs(other[41:] - y[41:]).max() > 1e-3


def test_linear_blocks_have_unit_gain() -> None:
    for seed in range(5):
        response = linear(np.random.default_rng(seed))(np.ones(3000))
        assert response[-1] == pytest.approx(1.0, abs=1e-6)


def test_a_gear_with_play_stays_while_the_drive_moves_inside_it() -> None:
    block = play(np.random.default_rng(0))
    pushed = np.concatenate([np.full(400, 2.0), np.full(400, 1.95)])
    y = block(pushed)
    assert y[399] == pytest.approx(y[-1], abs=1e-9)


@pytest.mark.parametrize("kind", EXCITATIONS)
def test_excitations_have_about_unit_size(kind: str) -> None:
    signal = EXCITATIONS[kind](np.random.default_rng(0), 4000, 8.0)
    assert signal.shape == (4000,)
    assert 0.8 < signal.std() < 1.2


def test_switches_have_two_levels_and_sines_have_the_exact_power() -> None:
    switch = on_off(np.random.default_rng(0), 500, 9)
    assert set(switch) == {-1.0, 1.0}
    edges = np.flatnonzero(np.diff(switch))
    assert np.diff(edges).max() <= 9
    # one sine over whole periods: its mean square is 1 by the formula sqrt(2) sin
    wave = sines(np.random.default_rng(1), 200_000, 0.1, count=1)
    assert np.mean(wave**2) == pytest.approx(1.0, abs=1e-3)


def test_integration_of_a_lag_is_exact_to_fourth_order() -> None:
    states = integrate(lambda x, v: v - x, np.zeros(1), np.ones(11), dt=0.5)
    exact = 1.0 - np.exp(-0.5 * np.arange(11))
    np.testing.assert_allclose(states[:, 0], exact, atol=2e-6)
