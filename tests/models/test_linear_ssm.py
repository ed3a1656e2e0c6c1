"""The linear model against known systems, closed forms and brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prssm
from prssm.data.record import Record
from prssm.data.splits import folds, split
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import Halves
from prssm.linear.order import Judged, best, further, until_no_better
from prssm.linear.output_error import identify, objective, squared_error
from prssm.linear.projection import OFFSET_STD
from prssm.linear.subspace import dynamics
from prssm.linear.system import LinearSystem, propagate, spectral_radius, stabilised
from prssm.models.linear_ssm import LinearSSM


def rotation(radius: float, angle: float) -> np.ndarray:
    c = np.cos(angle)
    s = np.sin(angle)
    return radius * np.array([[c, s], [-s, c]])


def system(inputs: int = 1, outputs: int = 1, third: float | None = None) -> LinearSystem:
    """A damped oscillation, and a real mode beside it where `third` is given."""
    random = np.random.default_rng(1)
    order = 2 if third is None else 3
    A = np.zeros((order, order))
    A[:2, :2] = rotation(0.9, 0.5)
    A[2:, 2:] = third or 0.0
    return LinearSystem(
        A,
        1.0 + random.random((order, inputs)),
        1.0 + random.random((outputs, order)),
        D=0.3 * random.standard_normal((outputs, inputs)),
        offset=np.zeros(outputs),
    )


def record_of(truth: LinearSystem, length: int, noise: float = 0.0, seed: int = 0) -> Record:
    random = np.random.default_rng(seed)
    u = random.standard_normal((length, truth.B.shape[1]))
    y, _ = truth.simulate(random.standard_normal(truth.order), u)
    return Record(u if u.shape[1] else None, y + noise * random.standard_normal(y.shape))


def poles(A: np.ndarray) -> np.ndarray:
    return np.sort_complex(np.linalg.eigvals(A))


def fast(**options: object) -> LinearSSM:
    return LinearSSM(**({"starts": 2, "random_starts": 0, "max_order": 3} | options))


# ---- the recursion and the guard ----


@pytest.mark.parametrize("length", [1, 2, 7, 1024, 1500])
def test_doubling_equals_the_loop_over_time(length: int) -> None:
    random = np.random.default_rng(length)
    A = rotation(0.99, 0.3)
    drive = random.standard_normal((2, length, 3))
    start = random.standard_normal((2, 3))
    expected = [start]
    for t in range(length - 1):
        expected.append(A @ expected[-1] + drive[:, t])
    np.testing.assert_allclose(
        propagate(A, drive, start), np.stack(expected, axis=1), rtol=1e-10, atol=1e-10
    )


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(0.3, 1.0))
def test_guard_draws_back_what_is_outside_and_keeps_the_rest(
    order: int, seed: int, limit: float
) -> None:
    A = np.random.default_rng(seed).standard_normal((order, order))
    guarded = stabilised(A, limit)
    assert spectral_radius(guarded) <= limit
    inside = [pole for pole in np.linalg.eigvals(A) if abs(pole) <= limit]
    for pole in inside:
        # poles drawn to one place are ill-conditioned
        assert np.abs(np.linalg.eigvals(guarded) - pole).min() < 1e-4
    np.testing.assert_array_equal(stabilised(guarded, limit), guarded)


def test_nearest_run_is_the_least_squares_solution() -> None:
    model = system()
    record = record_of(system(), 60, noise=0.2)
    x0, errors = model.nearest_run(record)
    np.testing.assert_allclose(
        errors, (record.y - model.simulate(x0, record.u)[0]).ravel(), atol=1e-12
    )
    for nudge in 1e-3 * np.eye(2):
        assert np.sum((record.y - model.simulate(x0 + nudge, record.u)[0]) ** 2) > np.sum(errors**2)


# ---- identification ----


@pytest.mark.parametrize(
    ("inputs", "outputs", "third"),
    [(1, 1, None), (1, 1, 0.6), (2, 2, 0.6), (0, 1, None), (0, 2, 0.6)],
)
def test_noise_free_data_give_back_the_system(
    inputs: int, outputs: int, third: float | None
) -> None:
    truth = system(inputs, outputs, third)
    found = identify([record_of(truth, 150)], truth.order, starts=2, random_starts=0)
    np.testing.assert_allclose(poles(found.A), poles(truth.A), atol=1e-6)
    np.testing.assert_allclose(found.markov(20), truth.markov(20), atol=1e-6)


@pytest.mark.parametrize("inputs", [0, 1, 2])
def test_every_subspace_estimate_is_exact_on_noise_free_data(inputs: int) -> None:
    truth = system(inputs, 1, 0.6)
    estimates = list(dynamics([record_of(truth, 200), record_of(truth, 150, seed=1)], 3))
    assert len(estimates) == 10  # five block sizes, two weightings
    for A, _ in estimates:
        np.testing.assert_allclose(poles(A), poles(truth.A), atol=1e-5)


def test_records_of_different_length_and_gaps_give_back_the_system() -> None:
    truth = system(third=0.6)
    records = [record_of(truth, length, seed=length) for length in (80, 60, 30, 9)]
    gappy = []
    for record in records:
        y = np.array(record.y)
        y[4::7] = np.nan
        gappy.append(Record(record.u, y))
    found = identify(gappy, 3, starts=4, random_starts=0)
    np.testing.assert_allclose(found.markov(20), truth.markov(20), atol=1e-5)


def test_error_of_the_estimate_agrees_with_the_noise() -> None:
    """At a least-squares minimum, |error|^2 / noise^2 is chi-square with (values - parameters)
    degrees of freedom.
    """
    truth = system()
    noise = 0.2
    record = record_of(truth, 400, noise)
    freedom = 400 - (2 * 3 + 2)
    left = squared_error(identify([record], 2, starts=2, random_starts=0), [record]) / noise**2
    assert abs(left - freedom) < 4.0 * np.sqrt(2.0 * freedom)
    # the minimum is below the truth's own error
    assert left < squared_error(truth, [record]) / noise**2


def test_states_are_uncorrelated_with_unit_variance() -> None:
    records = [record_of(system(third=0.6), 100, 0.05)]
    found = identify(records, 3, starts=1, random_starts=0)
    np.testing.assert_allclose(np.cov(found.states(records[0]), rowvar=False), np.eye(3), atol=1e-8)


def test_pole_limit_is_kept() -> None:
    found = identify([record_of(system(), 100)], 2, starts=1, random_starts=0, max_radius=0.8)
    assert spectral_radius(found.A) <= 0.8


def test_large_offset_is_dear() -> None:
    record = record_of(system(), 50, 0.1)
    shifted = LinearSystem(
        *(getattr(system(), name) for name in "ABCD"), np.array([OFFSET_STD * 5.0])
    )
    factor = 1.0 + 25.0 / 50.0
    assert objective(shifted, [record]) == pytest.approx(squared_error(shifted, [record]) * factor)


# ---- order ----


@pytest.mark.parametrize(("third", "noise"), [(None, 0.0), (None, 0.3), (0.6, 0.1)])
def test_order_is_found(third: float | None, noise: float) -> None:
    truth = system(third=third)
    assert fast(max_order=4).fit(record_of(truth, 300, noise)).order_ == truth.order


def test_smallest_of_equally_good_orders_wins_and_search_stops() -> None:
    asked = []

    def judge(order: int) -> Judged:
        asked.append(order)
        return Judged(order, {1: 1.0, 2: 0.505, 3: 0.5}.get(order, 0.6), None)

    assert best(until_no_better(judge, range(1, 9))).order == 2
    assert asked == [1, 2, 3, 4, 5]  # three that are no better than the second


@pytest.mark.parametrize(
    ("glances", "asked", "chosen"),
    [
        ({4: 0.9, 5: 0.8, 6: 0.7}, [], 1),  # no glance promises less than 0.5
        ({4: 0.9, 5: 0.8, 7: 0.4}, [7], 1),  # less, but not by much
        ({4: 0.9, 5: 0.2, 6: 0.25}, [5, 6], 6),  # the most promising one first, then while it helps
        ({4: 0.4, 5: 0.45, 6: 0.9}, [4], 1),  # a promise that a search does not keep ends it
    ],
)
def test_orders_beyond_the_end_of_the_search_are_tried_where_a_glance_promises_less(
    glances: dict[int, float], asked: list[int], chosen: int
) -> None:
    errors = {1: 0.5, 2: 0.6, 3: 0.6, 4: 0.6, 5: 0.3, 6: 0.1, 7: 0.47}
    seen = []

    def judge(order: int) -> Judged:
        seen.append(order)
        return Judged(order, errors[order], None)

    before = [Judged(order, errors[order], None) for order in (1, 2, 3)]
    found = further(judge, before, glances)
    assert seen == asked
    assert [one.order for one in found] == ([1, 2, 3, 5, 6] if chosen == 6 else [1, 2, 3])
    assert best(found).order == chosen


def test_a_glance_is_the_free_run_error_of_the_subspace_estimate() -> None:
    """Without noise the subspace is exact: three states, and one for the mean that was removed."""
    record = record_of(system(third=0.6), 200)
    halves = Halves([record], warmup=16, starts=1)
    assert halves.glance(4) < 1e-5
    assert halves.glance(2) > 0.1


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(2, 90), min_size=1, max_size=7), st.sampled_from([2, 4]))
def test_every_row_is_held_out_once_and_never_fitted_then(lengths: list[int], count: int) -> None:
    ids = np.split(np.arange(sum(lengths), dtype=float), np.cumsum(lengths)[:-1])
    records = [Record(None, rows) for rows in ids]
    held = []
    for stretches in folds(records, count):
        fit, out = split(records, stretches)
        fitted, left = (set(np.concatenate([r.y[:, 0] for r in part])) for part in (fit, out))
        assert not fitted & left
        assert len(fitted) + len(left) == sum(lengths)
        held += sorted(left)
    assert len(held) == len(set(held))


# ---- the first state, the band, the contract ----


def test_first_state_equals_the_gaussian_posterior() -> None:
    """Brute force: condition the joint Gaussian of x0 and the first outputs."""
    model = system(outputs=2)
    random = np.random.default_rng(5)
    prior = InitialState(
        mean=np.array([0.3, -0.2]),
        factor=np.array([[1.0, 0.0], [0.4, 0.7]]),
        error_std=np.array([9.0, 9.0]),  # of long runs: says nothing about the first rows
        correlation=np.array([0.8, 0.0]),
        start_std=np.array([0.5, 0.2]),
    )
    u = random.standard_normal((6, 1))
    y = random.standard_normal((6, 2))
    y[2, 0] = np.nan
    x0, factor = prior.estimate(model, u, y)
    known = ~np.isnan(y)
    H = model.free_response(6)[known]
    time, output = np.nonzero(known)
    lags = np.abs(time[:, None] - time)
    same = output[:, None] == output
    R = np.where(same, prior.start_std[output] ** 2 * prior.correlation[output] ** lags, 0.0)
    P = prior.factor @ prior.factor.T
    gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    forced = model.simulate(prior.mean, u)[0]
    np.testing.assert_allclose(x0, prior.mean + gain @ (y - forced)[known], atol=1e-6)
    np.testing.assert_allclose(factor @ factor.T, P - gain @ H @ P, atol=1e-6)


def test_the_start_trusts_the_sensor_and_not_the_errors_of_long_runs() -> None:
    """Two modes with hardly any damping, which few rows tell apart: wrong starts last for ever.

    Runs may err little more than those of the true system that knows the noise. Held-out runs, from
    which the band comes, suffer from their own starts and must not decide.
    """
    A = np.zeros((4, 4))
    A[:2, :2] = rotation(0.9995, 0.03)
    A[2:, 2:] = rotation(0.9995, 0.1)
    column = np.ones((4, 1))
    truth = LinearSystem(A, 0.1 * column, column.T, D=np.zeros((1, 1)), offset=np.zeros(1))
    noise = 0.005
    train = record_of(truth, 400, noise)
    tests = [record_of(truth, 200, noise, seed) for seed in range(1, 21)]
    model = fast(order=4).fit(train)
    knows = replace(InitialState.fit(truth, [train]), start_std=np.array([noise]))
    first = [knows.estimate(truth, test.u, test.y[:16])[0] for test in tests]
    least = [truth.simulate(x0, test.u)[0] - test.y for x0, test in zip(first, tests, strict=True)]
    runs = model.free_runs(tests)
    errors = [run.mean - test.y for run, test in zip(runs, tests, strict=True)]
    assert np.mean(np.square(errors)) < 1.2**2 * np.mean(np.square(least))


def test_without_outputs_the_run_starts_from_the_prior() -> None:
    model = fast(order=2).fit(record_of(system(), 200, 0.1))
    run = model.simulate(Record(np.zeros((30, 1)), None))
    assert np.isfinite(run.mean).all()
    np.testing.assert_allclose(run.state_mean[0], model.start_.mean)
    assert run.std[0, 0] > run.std[-1, 0]  # what is not known of the first state fades


def test_band_covers_at_its_level() -> None:
    truth = system()
    noise = 0.5
    count = 1000
    model = fast(order=2).fit(record_of(truth, 2000, noise, seed=1))
    score = model.evaluate(record_of(truth, count, noise, seed=2))
    for level in (0.5, 0.8, 0.95):
        assert abs(score[f"coverage_{round(100 * level)}"] - level) < 3.0 * np.sqrt(
            level * (1 - level) / count
        )


def test_drawn_runs_have_the_moments_of_the_band() -> None:
    model = fast(order=2).fit(record_of(system(), 200, 0.3))
    model.start_ = replace(model.start_, correlation=np.array([0.9]))
    run = model.simulate(record_of(system(), 40, 0.3, seed=7), samples=4000)
    count = 4000
    assert np.abs(run.samples.mean(axis=0) - run.mean).max() < 5.0 * run.std.max() / np.sqrt(count)
    assert np.abs(run.samples.std(axis=0) / run.std - 1.0).max() < 5.0 / np.sqrt(2.0 * count)
    late = (run.samples - run.mean)[:, -2:, 0]
    assert abs(np.corrcoef(late.T)[0, 1] - 0.9) < 5.0 * (1.0 - 0.9**2) / np.sqrt(count) + 0.01


def test_later_outputs_are_never_read() -> None:
    model = fast(order=2).fit(record_of(system(), 120, 0.1))
    record = record_of(system(), 60, 0.1, seed=9)
    y = np.array(record.y)
    y[16:] = 99.0
    np.testing.assert_array_equal(
        model.simulate(record).mean, model.simulate(Record(record.u, y)).mean
    )


@pytest.mark.parametrize("inputs", [0, 2])
def test_file_gives_the_same_simulation_and_seed_the_same_model(tmp_path, inputs: int) -> None:
    data = [record_of(system(inputs, 2, 0.6), length, 0.1, seed=length) for length in (70, 50)]
    model = fast(random_starts=1, seed=3).fit(data)
    again = fast(random_starts=1, seed=3).fit(data)
    np.testing.assert_array_equal(model.A_, again.A_)
    loaded = prssm.load(model.save(tmp_path / "linear.prssm"))
    for a, b in zip(model.simulate(data), loaded.simulate(data), strict=True):
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.std, b.std)
    assert loaded.order_ == model.order_


@pytest.mark.parametrize(("rows", "asked", "window"), [(200, None, 16), (40, None, 5), (40, 9, 9)])
def test_a_first_state_is_found_from_an_eighth_of_a_short_record(
    tmp_path, rows: int, asked: int | None, window: int
) -> None:
    data = record_of(system(), rows, 0.1)
    model = prssm.load(fast(warmup=asked).fit(data).save(tmp_path / "linear.prssm"))
    assert model.warmup == window
    scaled = model.scaler_.scale(data)
    start, _ = model.start_.estimate(model.system_, scaled.u, scaled.y[:window])
    outputs, _ = model.system_.simulate(start, scaled.u)
    expected = model.scaler_.y_mean + model.scaler_.y_std * outputs
    np.testing.assert_allclose(model.simulate(data).mean, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("steps", [-1, 2.5, True, None])
def test_a_file_with_a_window_that_is_none_is_refused(tmp_path, steps: object) -> None:
    model = fast().fit(record_of(system(), 40, 0.1))
    model.window_ = steps
    path = model.save(tmp_path / "linear.prssm")
    with pytest.raises(prssm.PrssmError, match="warmup: expected a number of steps"):
        prssm.load(path)


def test_short_record_and_lost_outputs_still_fit() -> None:
    y = np.array(record_of(system(), 24, 0.1).y)
    y[3:6] = np.nan
    model = fast().fit(Record(None, y))
    assert np.isfinite(model.simulate(Record(None, y)).std).all()


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "bar"), [("ballbeam", 0.053), ("furnace", 1.20), ("dryer", 0.120)]
)
def test_recordings_reach_the_linear_row(recordings, name: str, bar: float) -> None:
    from prssm.data.sets.catalogue import load

    train, test = load(name, recordings)
    assert LinearSSM().fit(train).evaluate(test)["rmse"] < bar


# ---- the band ----


def test_the_band_is_wider_where_errors_last() -> None:
    """Of a drifting output few rows are independent, and new ones drift elsewhere."""
    plain = record_of(system(), 400, noise=0.3)
    rng = np.random.default_rng(7)
    drift = np.zeros((400, 1))
    for t in range(1, 400):
        drift[t] = 0.99 * drift[t - 1] + 0.3 * rng.standard_normal()
    drifting = Record(plain.u, record_of(system(), 400).y + drift)
    factors = []
    for record in (plain, drifting):
        scaled = fast(order=2).fit(record).scaler_.scale(record)
        held_out = Halves([scaled], 16, 2).hold_out(2)
        assert held_out is not None
        std = fast(order=2).fit(record).start_.error_std
        factors.append(float(std[0] / held_out.std[0]))
    assert factors[0] == pytest.approx(1.0, abs=0.1)
    assert factors[1] > 1.2


def test_an_input_that_moves_once_gives_no_band_beyond_all_measure() -> None:
    """In one half of the record it is constant: what is held out there says nothing."""
    rng = np.random.default_rng(3)
    u = np.where(np.arange(40) < 34, -0.588735, 0.910088)
    y = np.zeros(40)
    for t in range(1, 40):
        y[t] = 0.9 * y[t - 1] + 0.1 * u[t - 1]
    model = LinearSSM().fit((u, y + 0.01 * rng.standard_normal(40)))
    assert (model.start_.error_std < 1.0).all()
