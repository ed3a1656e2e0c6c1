"""The quick forms of the examples run, and do on the true plant what they are for."""

import designed_input
import tanks
import tanks_mpc
import train_policy


def test_a_learnt_model_controls_the_tanks_better_than_a_tuned_pi():
    pi, mean, chance = tanks_mpc.main(quick=True)
    assert mean.error < 0.9 * pi.error
    assert chance.error < 0.9 * pi.error
    assert chance.passed <= mean.passed


def test_a_designed_input_brings_the_true_tanks_to_the_level():
    error, inside = designed_input.main(quick=True)
    assert error < 0.4
    assert inside > 0.8


def test_a_policy_from_plausible_systems_controls_the_true_tanks():
    before, after = train_policy.main(quick=True)
    assert after < 0.7 * before


def test_the_plant_is_the_simulator():
    """Without noise the stationary level is (u k_pump / k_out)^2."""
    plant = tanks.Tanks(seed=0)
    for _ in range(400):
        plant.apply(2.0)
    assert abs(plant.level - (2.0 * 0.05 / 0.055) ** 2) < 0.15
