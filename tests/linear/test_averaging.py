"""The mean of linear models of several orders: when it is taken, and that it is one system."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.linear.averaging import mean_error, mean_of, orders_together
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import HeldOutErrors
from prssm.linear.order import Judged
from prssm.linear.system import MAX_RADIUS, LinearSystem

WARMUP = 4


def system(order: int, inputs: int = 2, outputs: int = 3, seed: int = 0) -> LinearSystem:
    rng = np.random.default_rng([seed, order])
    A = rng.normal(size=(order, order))
    A *= 0.9 / np.abs(np.linalg.eigvals(A)).max()
    return LinearSystem(
        A,
        rng.normal(size=(order, inputs)),
        rng.normal(size=(outputs, order)),
        D=rng.normal(size=(outputs, inputs)),
        offset=rng.normal(size=outputs),
    )


def held_out(*errors: np.ndarray) -> HeldOutErrors:
    return HeldOutErrors(list(errors), WARMUP, MAX_RADIUS, [system(1)])


def judged(order: int, *errors: np.ndarray, second: tuple[np.ndarray, ...] = ()) -> Judged:
    look = held_out(*errors)
    return Judged(order, look.rms, look, held_out(*second) if second else None)


# ---- one system ----


def test_the_mean_of_systems_is_a_system_whose_runs_are_the_mean_of_theirs() -> None:
    each = [system(1), system(3), system(2)]
    rng = np.random.default_rng(1)
    u = rng.normal(size=(50, 2))
    firsts = [rng.normal(size=one.order) for one in each]
    outputs, states = mean_of(each).simulate(np.concatenate(firsts), u)
    runs = [one.simulate(first, u) for one, first in zip(each, firsts, strict=True)]
    np.testing.assert_allclose(outputs, np.mean([y for y, _ in runs], axis=0), atol=1e-12)
    np.testing.assert_allclose(states, np.concatenate([x for _, x in runs], axis=1), atol=1e-12)


def test_the_mean_of_one_system_is_itself() -> None:
    alone = system(3)
    assert mean_of([alone]) is alone


def test_each_of_the_systems_starts_where_it_runs_best() -> None:
    """Twice the same system: their states agree, as nothing tells them apart."""
    alone = system(2, inputs=1, outputs=1)
    rng = np.random.default_rng(2)
    u = rng.normal(size=(80, 1))
    y = alone.simulate(rng.normal(size=2), u)[0] + 0.1 * rng.normal(size=(80, 1))
    record = Record(u, y)
    start = InitialState.fit_mean([alone, alone], [record])
    both, factor = start.estimate(mean_of([alone, alone]), u, y[:WARMUP])
    expected, alone_factor = InitialState.fit(alone, [record]).estimate(alone, u, y[:WARMUP])
    np.testing.assert_allclose(both, np.tile(expected, 2), atol=1e-8)
    covariance = np.tile(alone_factor @ alone_factor.T, (2, 2))
    np.testing.assert_allclose(factor @ factor.T, covariance, atol=1e-8)
    assert start.error_std == pytest.approx(InitialState.fit(alone, [record]).error_std)


# ---- when it is taken ----


# of unit size and uncorrelated, to the last digit
COLUMNS = 20.0 * np.linalg.qr(np.random.default_rng(0).normal(size=(400, 4)))[0]
NOISE = COLUMNS[:, :1]  # what no model can know
OWN = {order: COLUMNS[:, order : order + 1] for order in (1, 2, 3)}  # what each has of chance


def test_orders_that_err_independently_are_taken_together() -> None:
    found = [judged(order, NOISE + 0.8 * own) for order, own in OWN.items()]
    assert {one.order for one in orders_together(found)} == {1, 2, 3}


@pytest.mark.parametrize(("noise", "own_part"), [(1.0, 0.1), (0.0, 1e-5)])
def test_orders_that_err_alike_or_not_at_all_are_not(noise: float, own_part: float) -> None:
    found = [judged(order, noise * NOISE + own_part * own) for order, own in OWN.items()]
    assert len(orders_together(found)) == 1


def test_the_best_comes_first_and_worse_ones_stay_out() -> None:
    found = [
        judged(1, 2.0 * NOISE),
        judged(2, NOISE + 0.8 * OWN[2]),
        judged(3, NOISE + 0.7 * OWN[3]),
    ]
    assert [one.order for one in orders_together(found)] == [3, 2]


def test_a_second_look_has_its_say() -> None:
    """Halves alone would take both orders; quarters, on which they err alike, do not."""
    found = [
        judged(order, NOISE + 0.45 * OWN[order], second=(5.0 * NOISE + 0.01 * order,))
        for order in (1, 2)
    ]
    assert len(orders_together([one._replace(second=None) for one in found])) == 2
    assert len(orders_together(found)) == 1


def test_orders_that_were_not_held_out_or_have_many_states_stay_alone() -> None:
    found = [judged(order, NOISE + 0.8 * own) for order, own in OWN.items()]
    assert len(orders_together([one._replace(held_out=None) for one in found])) == 1
    large = [one._replace(order=20 + one.order) for one in found]
    assert len(orders_together(large)) == 1


def test_errors_of_the_mean_are_the_mean_of_the_errors() -> None:
    first = held_out(NOISE, OWN[1])
    second = held_out(OWN[2], OWN[3])
    found = mean_error([first, second])
    np.testing.assert_array_equal(found.errors[0], (NOISE + OWN[2]) / 2.0)
    np.testing.assert_array_equal(found.errors[1], (OWN[1] + OWN[3]) / 2.0)
