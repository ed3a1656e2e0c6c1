"""How far a run is from what was seen: against brute force, exact cases and the promised share."""

from dataclasses import replace

import numpy as np
import pytest

from prssm.prediction.cautions import about_lost, about_seen, leaves
from prssm.prediction.prediction import Prediction
from prssm.prediction.seen import Seen, _nearest, _spread_out, range_of


def cloud(rows: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A path of three correlated columns and one input."""
    rng = np.random.default_rng(seed)
    path = rng.normal(size=(rows, 3)) @ np.array(
        [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.2]]
    )
    return path, rng.uniform(-1.0, 1.0, (rows, 1))


def seen_of(path: np.ndarray, u: np.ndarray) -> Seen:
    y = path[:, :1]
    return Seen.fit([path], [u], input_range=range_of([u]), output_range=range_of([y]))


def test_rows_of_the_same_law_are_inside_but_for_the_promised_share() -> None:
    seen = seen_of(*cloud())
    path, u = cloud(4000, seed=1)
    outside = seen.distance(path, u, np.zeros((4000, 1))) > 0.0
    # one in a hundred, known from 2000 training rows and 4000 others
    error = np.sqrt(0.01 * 0.99 * (1 / 2000 + 1 / 4000))
    assert abs(outside.mean() - 0.01) < 4 * error


def test_far_rows_are_outside_by_about_their_distance_in_deviations() -> None:
    seen = seen_of(*cloud())
    along = np.array([1.0, 0.5, 0.0])  # the largest direction; its own deviation is one
    far = seen.distance(30.0 * along[None], np.zeros((1, 1)), np.zeros((1, 1)))
    assert 20.0 < far[0] < 40.0
    assert seen.distance(np.zeros((1, 3)), np.zeros((1, 1)), np.zeros((1, 1)))[0] == 0.0


def test_units_and_origins_of_the_states_do_not_matter() -> None:
    path, u = cloud()
    other = 7.0 + path * np.array([100.0, 0.01, 3.0])
    rows, v = cloud(50, seed=2)
    zero = np.zeros((50, 1))
    here = seen_of(path, u).distance(3.0 * rows, v, zero)
    there = Seen.fit(
        [other], [u], input_range=range_of([u]), output_range=range_of([path[:, :1]])
    ).distance(7.0 + 3.0 * rows * np.array([100.0, 0.01, 3.0]), v, zero)
    assert (here > 0.0).any()
    np.testing.assert_allclose(there, here, atol=1e-8)


def test_an_input_beyond_the_range_is_always_outside_by_as_much() -> None:
    path, u = cloud()
    seen = seen_of(path, u)
    edge = u.max()
    beyond = seen.beyond_inputs(np.array([[edge], [edge + 0.25], [u.min() - 1e-3], [0.0]]))
    np.testing.assert_allclose(beyond, [0.0, 0.25, 1e-3, 0.0], atol=1e-8)
    assert beyond[2] > 0.0


def test_an_output_beyond_the_range_is_outside_after_some_slack() -> None:
    path, u = cloud()
    seen = seen_of(path, u)
    high = path[:, 0].max()
    width = np.ptp(path[:, 0])
    means = np.array([[high + 0.04 * width], [high + 0.06 * width]])
    found = seen.distance(np.zeros((2, 3)), np.zeros((2, 1)), means)
    np.testing.assert_allclose(found, [0.0, 0.01 * width], atol=1e-9)


def test_of_who_knows_the_range_alone_the_deviation_is_that_of_any_value_in_it() -> None:
    seen = replace(seen_of(*cloud()), output_range=np.array([[-1.0], [3.0]]))
    mean = np.array([[1.0], [-1.0], [7.0]])
    values = np.linspace(-1.0, 3.0, 100_001)
    expected = np.sqrt(np.mean((values - mean) ** 2, axis=1, keepdims=True))
    np.testing.assert_allclose(seen.unknown_std(mean), expected, rtol=1e-4)


def test_columns_that_never_move_and_rows_that_are_unknown_are_left_out() -> None:
    path, u = cloud(300)
    still = np.concatenate([path, np.full((300, 1), 4.0)], axis=1)
    still[7, 0] = np.nan
    seen = Seen.fit([still], [u], input_range=range_of([u]), output_range=np.array([[-9], [9.0]]))
    moved = seen.distance(np.array([[0.0, 0.0, 0.0, 99.0]]), np.zeros((1, 1)), np.zeros((1, 1)))
    assert moved[0] == 0.0
    assert len(seen.points) == 299


def test_nothing_to_compare_with_is_inside() -> None:
    nothing = Seen.fit(
        [np.zeros((50, 0))],
        [np.zeros((50, 0))],
        input_range=range_of([np.zeros((50, 0))]),
        output_range=np.array([[-1.0], [1.0]]),
    )
    empty = np.zeros((4, 0))
    np.testing.assert_array_equal(nothing.distance(empty, empty, np.zeros((4, 1))), 0.0)
    np.testing.assert_array_equal(nothing.beyond_inputs(empty), 0.0)


def test_a_run_that_is_lost_is_far_outside() -> None:
    seen = seen_of(*cloud())
    lost = np.array([[np.nan, 0.0, 0.0], [1e300, 0.0, 0.0], [-np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = seen.distance(lost, np.zeros((4, 1)), np.array([[0.0], [0.0], [0.0], [np.nan]]))
    assert np.isfinite(found).all()
    assert (found > 1e50).all()
    single = seen.distance(np.full((1, 3), np.nan, np.float32), np.zeros((1, 1)), np.zeros((1, 1)))
    assert single[0] > 1e50


def test_nearest_is_the_smallest_of_all_distances() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 4))
    points = rng.normal(size=(30, 4))
    brute = np.linalg.norm(rows[:, None] - points[None], axis=2).min(axis=1)
    np.testing.assert_allclose(_nearest(rows, points), brute, atol=1e-12)


def test_points_that_are_kept_cover_all_others() -> None:
    """None is farther from them than they are from each other: no choice is twice as good."""
    points = np.random.default_rng(0).normal(size=(500, 3))
    kept = points[_spread_out(points, 40)]
    apart = np.linalg.norm(kept[:, None] - kept[None], axis=2)
    closest = apart[~np.eye(40, dtype=bool)].min()
    assert _nearest(points, kept).max() <= closest + 1e-12
    assert len(_spread_out(points[:20], 40)) == 20


def test_it_is_the_same_from_a_file_and_absent_from_an_old_one() -> None:
    path, u = cloud()
    seen = seen_of(path, u)
    again = Seen.from_arrays(seen.to_arrays())
    assert again is not None
    rows = (4.0 * path[:20], u[:20], np.zeros((20, 1)))
    np.testing.assert_array_equal(again.distance(*rows), seen.distance(*rows))
    assert Seen.from_arrays({}) is None
    size = sum(array.nbytes for array in seen.to_arrays().values())
    assert size < 50_000


def run(distance: np.ndarray | None, name: str = "log", warmup: int = 0) -> Prediction:
    zero = np.zeros((100, 1))
    return Prediction(zero, zero + 1.0, name=name, distance=distance, warmup=warmup)


def rows_at(distance: float, count: int) -> np.ndarray:
    return np.where(np.arange(100) < count, distance, 0.0)


@pytest.mark.parametrize(
    ("distance", "warmup", "expected"),
    [
        (None, 0, False),
        (rows_at(0.5, 9), 0, False),
        (rows_at(0.5, 12), 0, True),
        (rows_at(0.05, 100), 0, False),
        (rows_at(0.5, 12), 12, False),
        (rows_at(3.0, 1), 0, True),
        (rows_at(3.0, 1), 16, False),
        (rows_at(3.0, 1), 100, False),
    ],
)
def test_a_run_that_leaves_is_told_from_one_at_the_edge(distance, warmup, expected) -> None:
    assert leaves(run(distance, warmup=warmup)) is expected
    assert bool(about_seen(run(distance, warmup=warmup))) is expected


def test_the_line_says_how_many_rows_where_and_how_far() -> None:
    far = rows_at(0.5, 12)
    far[70] = 2.25
    line = about_seen(run(far))
    assert "log: 13 of 100 rows are outside" in line
    assert "row 70, by 2.2 deviations" in line
    assert "\n" not in line
    assert about_seen(run(None)) == ""


def test_a_prediction_carries_it_in_its_columns_where_it_is_known() -> None:
    known = run(rows_at(0.5, 3))
    np.testing.assert_array_equal(known.to_columns()["outside_training"], rows_at(0.5, 3))
    assert known.outside is not None
    assert known.outside.sum() == 3
    assert run(None).outside is None
    assert "outside_training" not in run(None).to_columns()


def test_a_run_that_is_lost_says_from_where() -> None:
    whole = run(None)
    assert about_lost(whole) == ""
    mean = whole.mean.copy()
    mean[40:] = np.nan
    assert "from row 40 on" in about_lost(replace(whole, mean=mean))
