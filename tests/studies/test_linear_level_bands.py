"""The study of the level `linear`'s band: its table counts right, and its systems are of a kind."""

from linear_level_bands import BANDS, DISTURBED, _system, page

from prssm.data.simulators.random_systems import random_recording


def test_the_table_counts_bands_that_are_too_narrow_and_too_wide() -> None:
    def row(held: float, white: bool) -> dict:
        each = {band: {"held": held, "likelihood": held} for band in BANDS}
        return each | {"kept": {"held": held, "likelihood": 0.95}, "white": white}

    rows = [row(0.8, True), row(0.95, False), row(0.97, True), row(1.0, False)]
    every, white = page(rows).split("White errors. ")
    lines = every.strip().splitlines()
    assert lines[0].startswith("All systems. Likelier than by `LinearSSM`, of 4: kept 1, ")
    assert len(lines) == 2 + 2 + len(BANDS)
    assert lines[4] == "| kept | 4 | 50% | 25% | 25% | 0.930 | 0.950 |"
    assert "| Student's | 2 | 50% | 50% | 0% | 0.885 | 0.885 |" in white
    assert "White" not in page(rows[1:2])


def test_systems_are_linear_or_disturbed_and_no_two_are_the_same() -> None:
    linear = [_system("linear", index) for index in range(2)]
    disturbed = [_system("disturbed", index) for index in range(2)]
    assert len({*linear, *disturbed}) == 4
    assert all(random_recording(number).facts["kind"] == "linear" for number in linear)
    assert all(random_recording(number).facts["disturbance"] > DISTURBED for number in disturbed)
