"""The study of the level `linear`'s band: its table counts right, and its systems are of a kind."""

from linear_level_bands import BANDS, DISTURBED, _system, page

from prssm.data.simulators.random_systems import random_recording


def test_the_table_counts_bands_that_are_too_narrow_and_too_wide() -> None:
    def row(held: float) -> dict:
        return {band: {"held": held, "likelihood": held} for band in BANDS}

    lines = page([row(0.8), row(0.95), row(0.97), row(1.0)]).splitlines()
    assert len(lines) == 2 + len(BANDS)
    assert lines[2] == "| kept | 4 | 50% | 25% | 25% | 0.930 | 0.930 |"


def test_systems_are_linear_or_disturbed_and_no_two_are_the_same() -> None:
    linear = [_system("linear", index) for index in range(2)]
    disturbed = [_system("disturbed", index) for index in range(2)]
    assert len({*linear, *disturbed}) == 4
    assert all(random_recording(number).facts["kind"] == "linear" for number in linear)
    assert all(random_recording(number).facts["disturbance"] > DISTURBED for number in disturbed)
