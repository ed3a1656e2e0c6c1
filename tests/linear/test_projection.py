"""The fit of sections against finite differences, brute-force least squares and known systems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.data.record import Record
from prssm.linear import projection
from prssm.linear.algebra import output_maps
from prssm.linear.output_error import objective, squared_error
from prssm.linear.projection import OFFSET_STD, Data, Projected, Search
from prssm.linear.sections import Sections
from prssm.linear.system import MAX_RADIUS, LinearSystem, propagate, spectral_radius

# inputs, outputs, states
SIZES = [
    *[(1, 1, 1), (1, 1, 2), (1, 1, 5), (2, 1, 3), (1, 2, 4), (2, 3, 5), (0, 1, 3), (0, 2, 4)],
    *[(1, 2, 1), (3, 2, 2)],
]


def system(inputs: int, outputs: int, order: int, seed: int = 0) -> LinearSystem:
    random = np.random.default_rng([inputs, outputs, order, seed])
    A = random.standard_normal((order, order))
    return LinearSystem(
        0.95 * A / spectral_radius(A),
        random.standard_normal((order, inputs)),
        random.standard_normal((outputs, order)),
        D=random.standard_normal((outputs, inputs)),
        offset=np.zeros(outputs),
    )


def recordings(truth: LinearSystem, noise: float, gaps: bool = True) -> list[Record]:
    random = np.random.default_rng(truth.order)
    records = []
    for length in (90, 60):
        u = random.standard_normal((length, truth.B.shape[1]))
        y, _ = truth.simulate(random.standard_normal(truth.order), u)
        y = y + noise * random.standard_normal(y.shape)
        if gaps:
            y[5:9, 0] = np.nan
            y[30, -1] = np.nan
        records.append(Record(u if u.shape[1] else None, y))
    return records


def near(truth: LinearSystem) -> Sections:
    """Sections that are not the best, so that errors and derivatives are not small."""
    random = np.random.default_rng(9)
    start = Sections.of(truth.A, truth.C)
    return start.moved(0.05 * random.standard_normal(start.parameters.size), 0.99)


def brute_force(sections: Sections, records: list[Record], weight: float) -> tuple[float, float]:
    """Squared error and |offset|^2 of the least-squares solution with one column for each entry of
    B, D, the offset and the first states, simulated one by one.
    """
    A = sections.A
    C = sections.C
    outputs, n = C.shape
    inputs = records[0].input_dim
    rows = []
    targets = []
    for index, record in enumerate(records):
        columns = []
        zero = LinearSystem(
            A, np.zeros((n, inputs)), C, D=np.zeros((outputs, inputs)), offset=np.zeros(outputs)
        )
        for j in range(n * inputs):
            B = np.zeros(n * inputs)
            B[j] = 1.0
            driven = propagate(
                A, (record.u @ B.reshape(n, inputs).T).T[:, :, None], np.zeros((n, 1))
            )
            columns.append(driven[:, :, 0].T @ C.T)
        for d in range(outputs):
            for j in range(inputs):
                columns.append(np.outer(record.u[:, j], np.eye(outputs)[d]))
        for other in range(len(records)):
            for j in range(n):
                run, _ = zero.simulate(np.eye(n)[j], record.u)
                columns.append(run if other == index else 0.0 * run)
        for d in range(outputs):
            columns.append(np.tile(np.eye(outputs)[d], (len(record), 1)))
        known = ~np.isnan(record.y)
        rows.append(np.stack([column[known] for column in columns], axis=1))
        targets.append(record.y[known])
    matrix = np.concatenate(rows)
    target = np.concatenate(targets)
    prior = np.zeros((outputs, matrix.shape[1]))
    prior[:, -outputs:] = np.sqrt(weight) * np.eye(outputs)
    values = np.linalg.lstsq(
        np.concatenate([matrix, prior]), np.concatenate([target, np.zeros(outputs)]), rcond=1e-13
    )[0]
    return float(np.sum((target - matrix @ values) ** 2)), float(np.sum(values[-outputs:] ** 2))


@pytest.mark.parametrize(("inputs", "outputs", "order"), SIZES)
def test_what_enters_linearly_is_the_least_squares_solution(inputs, outputs, order) -> None:
    truth = system(inputs, outputs, order)
    records = recordings(truth, noise=0.3)
    sections = near(truth)
    data = Data(records)
    found = Projected(sections, data, Projected(sections, data).squared_error)
    expected, offset = brute_force(sections, records, found.expected / (data.count * OFFSET_STD**2))
    assert found.squared_error == pytest.approx(expected, rel=1e-7)
    assert float(np.sum(found.system().offset ** 2)) == pytest.approx(offset, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("inputs", "outputs", "order"), SIZES)
def test_the_system_has_the_error_that_was_found(inputs, outputs, order) -> None:
    truth = system(inputs, outputs, order)
    records = recordings(truth, noise=0.3)
    found = Projected(near(truth), Data(records))
    assert squared_error(found.system(), records) == pytest.approx(found.squared_error, rel=1e-9)
    assert objective(found.system(), records) == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize(("inputs", "outputs", "order"), SIZES)
def test_gradient_equals_finite_differences_with_gaps(inputs, outputs, order) -> None:
    truth = system(inputs, outputs, order)
    data = Data(recordings(truth, noise=0.3))
    at = near(truth)
    here = Projected(at, data, Projected(at, data).squared_error)
    weight = here.expected / (data.count * OFFSET_STD**2)

    def value(change: np.ndarray) -> float:
        there = Projected(at.moved(change, 2.0), data, here.expected)
        return there.squared_error + weight * float(np.sum(there.system().offset ** 2))

    step = 1e-6
    slope = [
        (value(step * unit) - value(-step * unit)) / (2.0 * step)
        for unit in np.eye(at.parameters.size)
    ]
    right, _ = here.slope()
    np.testing.assert_allclose(-2.0 * right, slope, rtol=1e-4, atol=1e-5 * np.abs(right).max())


@pytest.mark.parametrize(("inputs", "outputs", "order"), SIZES)
def test_gauss_newton_matrix_is_that_of_the_projected_errors(inputs, outputs, order) -> None:
    """Without noise the errors are zero at the truth, and so grow by the matrix J'J alone."""
    truth = system(inputs, outputs, order)
    data = Data(recordings(truth, noise=0.0))
    at = Sections.of(truth.A, truth.C)
    _, square = Projected(at, data).slope()
    change = np.random.default_rng(3).standard_normal(at.parameters.size)
    step = 1e-4
    errors = [
        Projected(at.moved(sign * step * change, 2.0), data, 1e-20).squared_error
        for sign in (1.0, -1.0)
    ]
    assert np.mean(errors) == pytest.approx(step**2 * change @ square @ change, rel=1e-2)


@pytest.mark.parametrize(("inputs", "outputs", "order"), SIZES)
def test_noise_free_systems_are_recovered_to_rounding(inputs, outputs, order) -> None:
    truth = system(inputs, outputs, order)
    records = recordings(truth, noise=0.0)
    start = Sections.of(truth.A, truth.C)
    away = start.moved(1e-3 * np.random.default_rng(0).standard_normal(start.parameters.size), 0.99)
    search = Search(Projected(away, Data(records)), MAX_RADIUS)
    search.advance(40, 0.0)
    found = search.best.system()
    np.testing.assert_allclose(found.markov(20), truth.markov(20), atol=1e-8)
    assert search.best.squared_error < 1e-16 * search.best.data.power


def test_search_from_an_unstable_start_ends_stable_and_better() -> None:
    truth = system(1, 1, 2)
    records = recordings(truth, noise=0.1)
    wild = Sections.of(1.4 * truth.A, truth.C).within(MAX_RADIUS)
    search = Search(Projected(wild, Data(records)), MAX_RADIUS)
    search.advance(30, 0.0)
    assert spectral_radius(search.best.sections.A) <= MAX_RADIUS + 1e-12
    assert search.best.squared_error < 1.2 * search.best.data.count * 0.1**2


@pytest.mark.filterwarnings("error")
def test_a_pole_at_zero_stays_where_its_partner_is_drawn_back() -> None:
    drawn = Sections.of(np.diag([1.3, 0.0]), np.ones((1, 2))).within(MAX_RADIUS)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(drawn.A)), [0.0, MAX_RADIUS], atol=1e-12)


def test_a_real_pole_on_the_limit_does_not_keep_its_partner_from_moving() -> None:
    """An integrator and a lag, started with both poles on the limit."""
    A = np.diag([MAX_RADIUS, 0.6])
    truth = LinearSystem(
        A, np.array([[0.1], [1.0]]), np.ones((1, 2)), D=np.zeros((1, 1)), offset=np.zeros(1)
    )
    u = np.random.default_rng(0).standard_normal((300, 1))
    record = Record(u, truth.simulate(np.zeros(2), u)[0])
    start = Sections.of(np.diag([MAX_RADIUS, 0.95]), np.ones((1, 2))).within(MAX_RADIUS)
    search = Search(Projected(start, Data([record])), MAX_RADIUS)
    search.advance(30, 0.0)
    poles = np.sort(np.linalg.eigvals(search.best.sections.A).real)
    np.testing.assert_allclose(poles, [0.6, MAX_RADIUS], atol=1e-6)


def test_real_poles_find_the_partner_with_which_they_become_complex() -> None:
    """From four real poles to two resonances between which no section lies at first."""
    modes = [0.95 * np.exp(0.2j), 0.7 * np.exp(0.9j)]
    A = np.zeros((4, 4))
    for index, mode in enumerate(modes):
        block = slice(2 * index, 2 * index + 2)
        A[block, block] = [[mode.real, mode.imag], [-mode.imag, mode.real]]
    random = np.random.default_rng(0)
    truth = LinearSystem(
        A, np.ones((4, 1)), np.ones((1, 4)), D=np.zeros((1, 1)), offset=np.zeros(1)
    )
    u = random.standard_normal((300, 1))
    record = Record(u, truth.simulate(np.zeros(4), u)[0])
    start = Sections.of(np.diag([0.99, 0.8, 0.5, 0.2]), np.ones((1, 4)))
    search = Search(Projected(start, Data([record])), MAX_RADIUS)
    search.advance(100, 1e-16)
    assert search.best.squared_error < 1e-9 * search.best.data.power


# ---- sections alone ----


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 7), st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 1))
def test_sections_have_the_poles_and_are_seen_alike(order, outputs, seed, turn) -> None:
    """Every mode c v' of the system is one of the sections, up to its size."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((order, order))
    C = random.standard_normal((outputs, order))
    sections = Sections.of(A, C, turn)
    poles, vectors = np.linalg.eig(A)
    found, ways = np.linalg.eig(sections.A)
    for pole, seen in zip(poles, (C @ vectors).T, strict=True):
        at = int(np.argmin(np.abs(found - pole)))
        assert abs(found[at] - pole) < 1e-5
        other = sections.C @ ways[:, at]
        cosine = abs(np.vdot(seen, other)) / np.linalg.norm(seen) / np.linalg.norm(other)
        assert cosine > 1.0 - 1e-4


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(0.3, 1.0))
def test_poles_outside_are_drawn_to_the_limit_and_the_others_stay(order, seed, limit) -> None:
    A = np.random.default_rng(seed).standard_normal((order, order))
    sections = Sections.of(A, np.ones((1, order)))
    inside = [pole for pole in np.linalg.eigvals(sections.A) if abs(pole) < limit]
    guarded = np.linalg.eigvals(sections.within(limit).A)
    assert np.abs(guarded).max() <= limit + 1e-6
    for pole in inside:
        assert np.abs(guarded - pole).min() < 1e-5


def test_responses_are_those_of_the_state_space_form() -> None:
    sections = near(system(2, 2, 5))
    u = np.random.default_rng(0).standard_normal((50, 2))
    B = np.random.default_rng(1).standard_normal((5, 2))
    late = np.zeros((2, 50))
    late[:, 1:] = u[:-1].T
    expected = propagate(sections.A, (u @ B.T).T[:, :, None], np.zeros((5, 1)))[:, :, 0]
    np.testing.assert_allclose(sections.driven(sections.respond(late), B), expected, atol=1e-10)


@pytest.mark.parametrize("gaps", [False, True])
def test_maps_with_few_entries_give_the_equations_of_matrices(gaps):
    """Matrices are what a few channels have; many have the other form of the same equations."""
    truth = system(3, 4, 7)
    sections = near(truth)
    data = Data(recordings(truth, 0.1, gaps))
    found = Projected(sections, data)
    random = np.random.default_rng(0)
    signals = random.standard_normal((8 * 3 + 1 + 7, 50))
    slopes = random.standard_normal((4 * 3 + 1 + 7, 50))
    everything = np.concatenate([signals, slopes])
    seen = random.standard_normal((len(everything), 4))
    results = []
    for kind in (output_maps._Matrices, output_maps._FewEntries):
        maps = kind(sections, 3)
        linear = maps.linear(signals @ signals.T, np.array([0, 2, 3]))
        searched = maps.searched(everything @ slopes.T, np.array([0, 2, 3]))
        sides = maps.right_sides(seen[: len(signals)])
        side = maps.searched_side(seen[len(signals) :])
        weights = maps.weights(found.shared, np.arange(7.0))
        results.append([*linear, *searched, *sides, side, weights])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9 * np.abs(one).max())


def test_partners_that_the_data_cannot_tell_apart_end_no_search(monkeypatch):
    truth = system(1, 1, 3)
    data = Data(recordings(truth, 0.1))
    search = Search(Projected(Sections.of(np.diag([0.9, 0.6, 0.2]), np.ones((1, 3))), data), 0.99)
    best = search.best

    def undetermined(*arguments):
        raise np.linalg.LinAlgError("equations are not positive definite")

    monkeypatch.setattr(projection, "Projected", undetermined)
    search._change_partners()
    assert search.best is best


def test_damping_that_was_just_raised_is_not_lowered_at_once(monkeypatch):
    """Each trial of several outputs takes long: what was too little a step ago is not tried."""
    truth = system(2, 3, 5)
    search = Search(Projected(near(truth), Data(recordings(truth, 0.1))), 0.99)
    trial = Search._trial
    refused = iter([True, False])

    def first_refused(self, right, damped):
        return self.best if next(refused, False) else trial(self, right, damped)

    monkeypatch.setattr(Search, "_trial", first_refused)
    before = search._damping
    search._step(0.0)
    assert search._damping == pytest.approx(10.0 * before)
    search._step(0.0)
    assert search._damping == pytest.approx(before)
