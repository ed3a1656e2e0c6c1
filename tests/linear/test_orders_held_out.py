"""Held-out halves and quarters, and the order that they choose together."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.data.splits import folds, split
from prssm.foundation.errors import TrainingError
from prssm.linear.held_out import Halves, HeldOutErrors, SecondLook
from prssm.linear.order import Judged, best, judge_orders, look_again
from prssm.linear.output_error import Identification, squared_error
from prssm.linear.system import MAX_RADIUS, LinearSystem

WARMUP = 16


def mode(radius: float, angle: float, gain: float) -> LinearSystem:
    turn = radius * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    C = np.array([[gain, 0.0]])
    return LinearSystem(turn, np.array([[0.0], [1.0]]), C, D=np.zeros((1, 1)), offset=np.zeros(1))


def recording(rows: int, *modes: LinearSystem, noise: float = 0.0, seed: int = 0) -> Record:
    random = np.random.default_rng(seed)
    u = random.standard_normal((rows + 100, 1))
    y = sum(each.simulate(np.zeros(2), u)[0] for each in modes)
    y = y + noise * random.standard_normal(y.shape)
    scaled = (y - y[100:].mean()) / y[100:].std()
    return Record(u[100:], scaled[100:])


RECORD = recording(200, mode(0.9, 0.6, 1.0), noise=0.3)


# ---- a search from given systems ----


def test_improved_systems_are_as_good_as_the_best_of_all_starts() -> None:
    search = Identification([RECORD])
    found = search.best(2)
    # a neighbour's poles, and others that lead nowhere
    starts = [LinearSystem(0.9 * found.A, found.B, found.C, D=found.D, offset=found.offset)]
    starts.append(LinearSystem(-found.A, found.B, found.C, D=found.D, offset=found.offset))
    improved = search.improved(starts)
    assert squared_error(improved, [RECORD]) == pytest.approx(
        squared_error(found, [RECORD]), rel=1e-4
    )


# ---- quarters ----


def test_quarters_predict_what_their_models_have_not_seen() -> None:
    """By hand: fit three quarters from the halves' models, and run freely over the fourth."""
    halves = Halves([RECORD], WARMUP, starts=1).hold_out(2)
    assert halves is not None
    found = SecondLook.quarters([RECORD], WARMUP).hold_out(halves)
    assert found is not None
    assert [len(each) for each in found.errors] == [50, 50, 50, 50]
    for stretches, system in zip(folds([RECORD], 4), found.systems, strict=True):
        shown, _ = split([RECORD], stretches)
        mean_u = np.concatenate([each.u for each in shown]).mean(axis=0)
        mean_y = np.concatenate([each.y for each in shown]).mean(axis=0)
        centred = [Record(each.u - mean_u, each.y - mean_y) for each in shown]
        by_hand = Identification(centred).improved(halves.systems)
        np.testing.assert_allclose(system.markov(20), by_hand.markov(20), atol=1e-9)


def test_quarters_of_data_without_noise_are_predicted_exactly() -> None:
    record = recording(200, mode(0.9, 0.6, 1.0))
    # three states: one for the mean that was removed
    halves = Halves([record], WARMUP, starts=1).hold_out(3)
    assert halves is not None
    found = SecondLook.quarters([record], WARMUP).hold_out(halves)
    assert found is not None
    assert found.rms < 1e-4


def test_data_too_short_for_quarters_have_none() -> None:
    """A quarter of 37 rows is less than three warm-ups."""
    short = RECORD[:150]
    halves = Halves([short], WARMUP, starts=1).hold_out(1)
    assert halves is not None
    assert SecondLook.quarters([short], WARMUP).hold_out(halves) is None


# ---- the choice ----


def errors_of(size: float) -> HeldOutErrors:
    return HeldOutErrors([np.full((40, 1), size)], WARMUP, MAX_RADIUS, [mode(0.9, 0.6, 1.0)])


def test_orders_that_halves_hardly_tell_apart_are_judged_by_both() -> None:
    on_halves = {1: 0.9, 2: 0.50, 3: 0.52, 4: 0.59}
    on_quarters = {0.50: 0.40, 0.52: 0.30, 0.59: 0.38}
    judged = [Judged(order, error, errors_of(error)) for order, error in on_halves.items()]
    asked = []

    def quarters(found: HeldOutErrors) -> HeldOutErrors:
        asked.append(round(found.rms, 6))
        return errors_of(on_quarters[asked[-1]])

    again = look_again(judged, quarters)
    assert asked == [0.50, 0.52, 0.59]  # one state is out
    assert [one.order for one in again] == [2, 3, 4]
    # two is what halves take: the others have to be clearly better
    expected = np.sqrt([0.50 * 0.40, 0.52 * 0.30, 0.59 * 0.38]) * [1.0, 1.06, 1.06]
    np.testing.assert_allclose([one.error for one in again], expected)
    assert best(again).order == 3
    assert again[0].held_out is judged[1].held_out  # the band is that of the halves


def test_longer_records_decide_alone() -> None:
    judged = [Judged(order, error, errors_of(error)) for order, error in ((1, 0.50), (2, 0.52))]
    again = look_again(judged, lambda found: errors_of(0.7 - found.rms), alone=True)
    np.testing.assert_allclose([one.error for one in again], [0.20, 0.18])
    assert best(again).order == 2


def test_of_long_data_the_longer_records_are_looked_at_a_second_time() -> None:
    record = recording(700, mode(0.9, 0.6, 1.0), noise=0.3)
    judged = judge_orders([record[:200]], [1, 2, 3], WARMUP, starts=1, longer=[record])
    two = next(one for one in judged if one.order == 2)
    assert two.held_out is not None
    second = SecondLook.longer([record], WARMUP).hold_out(two.held_out)
    assert second is not None
    assert [len(each) for each in second.errors] == [350, 350]
    assert two.error == pytest.approx(second.rms)
    assert best(judged).order == 2


def test_only_the_four_best_on_halves_are_judged_again() -> None:
    on_halves = {1: 0.55, 2: 0.59, 3: 0.54, 4: 0.51, 5: 0.50}
    judged = [Judged(order, error, errors_of(error)) for order, error in on_halves.items()]
    again = look_again(judged, lambda found: errors_of(0.3))
    assert [one.order for one in again] == [1, 3, 4, 5]


def test_few_rows_are_judged_by_halves_and_quarters() -> None:
    judged = judge_orders([RECORD], [1, 2, 3], WARMUP, starts=1)
    assert best(judged).order == 2
    two = next(one for one in judged if one.order == 2)
    assert two.held_out is not None
    second = SecondLook.quarters([RECORD], WARMUP).hold_out(two.held_out)
    assert second is not None
    assert two.error == pytest.approx(np.sqrt(two.held_out.rms * second.rms))


def test_without_quarters_the_halves_decide() -> None:
    judged = [Judged(order, error, errors_of(error)) for order, error in ((1, 0.5), (2, 0.45))]
    assert look_again(judged, lambda found: None) == judged
    short = [Judged(1, 0.5, None), Judged(2, 0.45, None)]
    assert look_again(short, lambda found: errors_of(0.1)) == short


def test_an_order_that_more_rows_do_not_determine_is_out() -> None:
    judged = [Judged(order, error, errors_of(error)) for order, error in ((1, 0.50), (2, 0.52))]

    def again(found: HeldOutErrors) -> HeldOutErrors:
        if found.rms < 0.51:
            raise TrainingError("linear: the data determine no system of this order")
        return errors_of(0.5)

    assert best(look_again(judged, again)).order == 2


def test_a_single_order_is_not_judged_twice() -> None:
    def never(found: HeldOutErrors) -> HeldOutErrors:
        raise AssertionError

    judged = [Judged(1, 0.9, errors_of(0.9)), Judged(2, 0.5, errors_of(0.5))]
    assert look_again(judged, never) == judged[1:]
    hopeless = [Judged(1, np.inf, None)]
    assert look_again(hopeless, never) == hopeless
