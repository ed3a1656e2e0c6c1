"""The study of networks' bands: only systems that keep networks count, and none is disturbed."""

from network_bands import BANDS, _system, page

from prssm.data.simulators.random_systems import random_recording


def test_the_table_leaves_out_what_keeps_no_network() -> None:
    def row(level: str, held: float) -> dict:
        return {"level": level} | {band: {"held": held, "likelihood": held} for band in BANDS}

    lines = page([row("network", 0.8), row("network", 0.95), {"level": "linear"}]).splitlines()
    assert len(lines) == 2 + len(BANDS)
    assert lines[2] == "| 0.0 of the way, doubt 0.3 | 2 | 50% | 50% | 0% | 0.875 | 0.875 |"


def test_systems_are_undisturbed_and_no_two_are_the_same() -> None:
    numbers = [_system(index) for index in range(3)]
    assert len(set(numbers)) == 3
    assert all(random_recording(number).facts["disturbance"] == 0.0 for number in numbers)
