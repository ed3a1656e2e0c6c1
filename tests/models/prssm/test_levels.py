"""What makes a level different: how far it may go from its start."""

import pytest

from prssm.models.prssm.levels import LEVELS, NETWORK, doubt_of


def test_a_prior_holds_two_levels_near_their_start_and_no_other():
    """Precision is one over the variance of a tenth, and of three tenths of that."""
    found = {name: level.anchor_precision(0.1) for name, level in LEVELS.items()}
    assert found.pop("held") == pytest.approx(100.0)
    assert found.pop("held-correlated") == pytest.approx(1.0 / 0.03**2)
    assert set(found.values()) == {0.0}
    assert NETWORK.anchor_precision(0.1) == 0.0


def test_what_is_mixed_doubts_as_much_as_the_most_doubtful_level():
    assert doubt_of("network") == NETWORK.doubt < LEVELS["free"].doubt
    assert doubt_of("linear+held") == LEVELS["held"].doubt
    assert doubt_of("network+free") == LEVELS["free"].doubt
