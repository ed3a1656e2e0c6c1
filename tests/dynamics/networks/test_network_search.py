"""Training on free runs: exact systems are found, and every step is the one it should be."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.dynamics.networks.damped_step import damped_step
from prssm.dynamics.networks.equations import plain_jacobian, plain_run
from prssm.dynamics.networks.search import Point, Search
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.linear.system import LinearSystem

LINEAR = LinearSystem(
    np.array([[0.9, 0.2], [-0.2, 0.8]]),
    np.array([[0.5], [1.0]]),
    np.array([[1.0, 0.3]]),
    D=np.array([[0.1]]),
    offset=np.array([0.2]),
)


def linear_records(*lengths, noise=0.0):
    """Free runs of the linear system, each from a first state of its own."""
    rng = np.random.default_rng(0)
    found = []
    for length in lengths:
        u = rng.normal(size=(length, 1))
        y, _ = LINEAR.simulate(rng.normal(size=2), u)
        found.append(Record(u, y + noise * rng.normal(size=y.shape)))
    return found


def without(record, *rows):
    """The same record, not measured in some rows."""
    y = record.y.copy()
    y[list(rows)] = np.nan
    return Record(record.u, y)


def away(system, size, seed=1):
    """The same network with other numbers, inside the circle."""
    rng = np.random.default_rng(seed)
    row = system.row()
    return NetworkSystem.of_row(row + size * rng.normal(size=row.shape), system.shape).within()


def around(states=2, neurons=0):
    rng = np.random.default_rng(2)
    return NetworkSystem.around(LINEAR, Shape(states, 1, 1, neurons), rng)


@pytest.mark.parametrize("lengths", [(200,), (80, 50, 90)])
def test_a_linear_system_without_noise_is_found_to_rounding(lengths):
    records = linear_records(*lengths)
    start = away(around(), 0.05)
    search = Search(records, start, np.zeros((len(records), 2)), weight=1.0)
    assert search.best.squares > 1.0
    search.run(200)
    assert np.sqrt(search.best.squares / search.count) < 1e-7
    found = search.system
    again = LinearSystem(
        found.weight[:, :2], found.weight[:, 2:], found.C, D=found.D, offset=found.offset
    )
    np.testing.assert_allclose(again.markov(30), LINEAR.markov(30), atol=1e-6)


def test_an_exact_start_stays_what_it_is():
    """Errors of rounding make the prior as weak as rounding: no step must fail over it."""
    records = linear_records(100)
    system = around(states=3, neurons=4)
    firsts = np.append(LINEAR.first_state(records[0]), 0.0)[None]
    search = Search(records, system, firsts, weight=30.0)
    search.run(50)
    assert np.sqrt(search.best.squares / search.count) < 1e-10


def test_outputs_that_equal_a_run_exactly_leave_nothing_to_do():
    u = np.zeros((20, 1))
    search = Search([Record(u, np.full((20, 1), 0.2))], around(), np.zeros((1, 2)), weight=1.0)
    assert search.best.squares == 0.0
    search.run(10)
    assert search.best.squares == 0.0


@pytest.mark.parametrize("damping", [1e-3, 1.0])
def test_a_step_is_that_of_one_large_least_squares_problem(damping):
    """All parameters and all first states in one matrix, solved as it stands."""
    records = linear_records(30, 20, noise=0.1)
    records[1] = without(records[1], 3)
    start = away(around(states=2, neurons=3), 0.2)
    firsts = np.random.default_rng(3).normal(size=(2, 2))
    search = Search(records, start, firsts, weight=5.0)
    shape = search.shape
    # the prior is around the start: from another point it pulls
    now = search._at(search.best.row + 0.01, firsts)
    precision = 5.0 * now.squares / search.count
    assert search._prior(now) == precision

    shared = shape.shared
    whole = shared + 2 * shape.states
    square = np.zeros((whole, whole))
    slope = np.zeros(whole)
    brake = np.zeros(whole)
    for number, (record, first) in enumerate(zip(records, firsts, strict=True)):
        own = np.arange(shape.states) + shared + number * shape.states
        places = np.append(np.arange(shared), own)
        row = np.append(now.row, first)
        x, y = plain_run(row, shape, record.u)
        known = ~np.isnan(record.y)
        jacobian = plain_jacobian(row, shape, record.u, x=x)[known]
        part = jacobian.T @ jacobian
        part[-shape.states :, -shape.states :] += precision * np.eye(shape.states)
        if number == 0:
            part[:shared, :shared] += precision * np.eye(shared)
        slope[places] += jacobian.T @ (y - record.y)[known]
        square[np.ix_(places, places)] += part
        curvature = np.diag(part)
        brake[places] += damping * np.maximum(curvature, 1e-9 * curvature.max())
    slope[:shared] += precision * (now.row - search.middle)
    slope[shared:] += precision * firsts.ravel()
    change = np.linalg.solve(square + np.diag(brake), slope)

    step = damped_step(*search._equations(now, precision), shared, damping)
    np.testing.assert_allclose(step[0], change[:shared], rtol=0, atol=1e-8)
    np.testing.assert_allclose(step[1].ravel(), change[shared:], rtol=0, atol=1e-8)


def test_the_objective_never_rises():
    records = linear_records(120, noise=0.1)
    records = [Record(record.u, record.y + 0.5 * np.tanh(record.y)) for record in records]
    search = Search(records, around(states=3, neurons=4), np.zeros((1, 3)), weight=30.0)
    for _ in range(15):
        before = search.best
        precision = search._prior(before)
        search.run(1)
        after = search._objective(search.best, precision)
        assert after <= search._objective(before, precision)


def test_neurons_learn_what_a_linear_system_cannot():
    rng = np.random.default_rng(4)
    u = rng.uniform(-2, 2, (300, 1))
    y = np.zeros((300, 1))
    for t in range(299):
        y[t + 1] = 0.7 * y[t] + np.tanh(1.5 * u[t])
    linear = LinearSystem(
        np.array([[0.7]]),
        np.array([[0.6]]),
        np.ones((1, 1)),
        D=np.zeros((1, 1)),
        offset=np.zeros(1),
    )
    errors = []
    for neurons in (0, 2):
        start = NetworkSystem.around(linear, Shape(1, 1, 1, neurons), rng)
        search = Search([Record(u, y)], start, np.zeros((1, 1)), weight=1.0)
        search.run(100)
        errors.append(np.sqrt(search.best.squares / search.count))
    assert errors[0] > 0.05
    assert errors[1] < 1e-3


def test_a_lost_start_and_a_stop_end_a_search_at_once():
    records = linear_records(100)
    lost = Search(records, around(), np.array([[1e9, 0.0]]), weight=1.0)
    assert lost.best.squares == np.inf
    lost.run(5)
    assert lost.best.squares == np.inf
    stopped = Search(records, away(around(), 0.05), np.zeros((1, 2)), weight=1.0)
    before = stopped.best
    stopped.run(5, go_on=lambda: False)
    assert stopped.best is before


def test_a_derivative_that_overflows_ends_a_search():
    """The run stays bounded, but a neuron enlarges its derivative in every row."""
    shape = Shape(1, 0, 1, 1)
    # x' = 1e-9 tanh(1e13 x + 0) from x = 0: the slope is 1e4 a row
    row = np.array([0.0, 0.0, 1e-9, 1e13, 0.0, 1.0, 0.0])
    system = NetworkSystem.of_row(row, shape)
    records = [Record(np.zeros((200, 0)), np.ones((200, 1)))]
    search = Search(records, system, np.zeros((1, 1)), weight=1.0)
    with np.errstate(all="ignore"):
        search.run(5)
    assert search.best.squares == 200.0


def test_missing_outputs_do_not_count():
    records = [without(linear_records(60, noise=0.1)[0], *range(10, 20))]
    search = Search(records, away(around(), 0.05), np.zeros((1, 2)), weight=1.0)
    assert search.count == 50
    search.run(30)
    run = plain_run(np.append(search.best.row, search.best.firsts[0]), search.shape, records[0].u)
    off = (run[1] - records[0].y)[~np.isnan(records[0].y)]
    assert search.best.squares == pytest.approx(float(off @ off), rel=1e-9)
    assert isinstance(search.best, Point)
