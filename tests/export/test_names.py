"""Any name of a column becomes an identifier."""

import keyword

from hypothesis import given
from hypothesis import strategies as st

from prssm.export.names import RESERVED, identifiers


def test_names_stay_near_what_they_were():
    assert identifiers(["valve", "p [bar]", "3rd", "Größe"]) == (
        "valve",
        "p_bar",
        "x_3rd",
        "Gr_e",
    )
    assert identifiers(["int", "a b", "a-b", "a_b_2"]) == ("int_2", "a_b", "a_b_2", "a_b_2_2")
    assert identifiers(["", '"; drop', "*/"]) == ("x", "drop", "x_2")


def test_suffixes_do_not_meet():
    assert identifiers(["y", "y_std"], suffixes=("", "_std")) == ("y", "y_std_2")
    assert identifiers(["y_std", "y"], suffixes=("", "_std")) == ("y_std", "y_2")


@given(st.lists(st.text()))
def test_every_name_is_valid_and_differs_from_the_others(names):
    found = identifiers(names, taken=("time",))
    assert len({*found, "time"}) == len(found) + 1
    for word in found:
        assert word.isidentifier()
        assert word.isascii()
        assert word not in RESERVED
        assert not keyword.iskeyword(word)
        assert "__" not in word
