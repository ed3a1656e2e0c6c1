"""What a user writes after --over, against plain loops."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.evaluation.search.space import MOST_COMBINATIONS, Choices, Range, grid, space_of
from prssm.foundation.errors import OptionError


def test_lists_get_the_options_types():
    space = space_of(
        ["latent-dim=none,4", "kernel=matern32,matern52", "normalise=true,no", "prior_std=1,0.5"],
        "prssm",
    )
    assert space == (
        Choices("latent_dim", (None, 4)),
        Choices("kernel", ("matern32", "matern52")),
        Choices("normalise", (True, False)),
        Choices("prior_std", (1.0, 0.5)),
    )


def test_ranges_and_mappings():
    space = space_of(
        {"learning_rate": "0.005..0.1:log", "horizon": "50..210:50", "seed": [0, 1], "restarts": 3},
        "prssm",
    )
    assert space == (
        Range("learning_rate", 0.005, 0.1, log=True),
        Range("horizon", 50, 200, step=50),
        Choices("seed", (0, 1)),
        Choices("restarts", (3,)),
    )


def test_methods_come_first_and_an_option_need_not_belong_to_all():
    space = space_of(["latent_dim=2,4", "method=constant,prssm"], "prssm")
    assert [dimension.name for dimension in space] == ["method", "latent_dim"]


@given(
    low=st.integers(0, 50), count=st.integers(1, 20), step=st.integers(1, 9), rest=st.integers(0, 8)
)
def test_a_whole_range_is_a_loop_and_holds_nothing_else(low, count, step, rest):
    high = low + (count - 1) * step + min(rest, step - 1)
    if high == low:
        return
    (dimension,) = space_of([f"seed={low}..{high}:{step}"], "prssm")
    assert dimension.values == tuple(range(low, high + 1, step))
    assert [value for value in range(low - 2, high + 3) if dimension.holds(value)] == list(
        dimension.values
    )


def test_steps_of_fractions_are_clean_numbers():
    (dimension,) = space_of(["prior_std=0.1..0.7:0.1"], "prssm")
    assert dimension.values == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    assert all(dimension.holds(value) for value in dimension.values)
    assert not dimension.holds(0.15)


def test_a_grid_has_all_combinations_and_the_seed_changes_last():
    found = grid(space_of(["seed=0..1", "latent_dim=2,4", "horizon=50,100"], "prssm"))
    assert [tuple(params.values()) for params in found] == [
        (seed, dim, horizon) for seed, dim, horizon in itertools.product((0, 1), (2, 4), (50, 100))
    ]
    assert list(found[0]) == ["seed", "latent_dim", "horizon"]


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ([], "at least one option"),
        (["latent_dim"], "key=value"),
        (["latent_dim=2", "latent-dim=3"], "each option once"),
        (["latent_dims=2"], "Did you mean 'latent_dim'"),
        (["method=prsm"], "Did you mean 'prssm'"),
        (["latent_dim=two"], "a whole number"),
        (["latent_dim=0..3"], "at least 1"),
        (["kernel=matern5"], "matern52"),
        (["latent_dim=4..2"], "low < high"),
        (["learning_rate=0..1:log"], "above 0"),
        (["horizon=10..20:0"], "above 0"),
        (["horizon=10..20:2:log"], "at most"),
        (["horizon=10..x"], "a range"),
        (["learning_rate=0.1..inf"], "a range"),
    ],
)
def test_rubbish_is_refused_in_one_line(over, words):
    with pytest.raises(OptionError) as caught:
        space_of(over, "prssm")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_sweep_needs_single_values_and_not_too_many():
    with pytest.raises(OptionError, match="--trials N"):
        grid(space_of(["learning_rate=0.1..0.2"], "prssm"))
    with pytest.raises(OptionError, match="too many"):
        grid(space_of([f"seed=0..{MOST_COMBINATIONS // 2}", "latent_dim=2..4"], "prssm"))
