"""The start from a linear model is that linear model."""

import jax.numpy as jnp
import numpy as np
import pytest

from prssm.data.pieces import spread_out
from prssm.data.record import Record
from prssm.dynamics.engines.choice import rollout
from prssm.foundation.precision import double_precision
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import HeldOutErrors
from prssm.linear.order import Judged
from prssm.linear.system import MAX_RADIUS, LinearSystem
from prssm.models.prssm.config import DEFAULT, PAPER
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.starts import linear_start
from prssm.models.prssm.starts.linear_start import Limits, LinearOrders, LinearStart
from prssm.models.prssm.starts.start import Starts, linear_model

SYSTEM = LinearSystem(
    np.array([[0.8, 0.3], [-0.2, 0.7]]),
    np.array([[0.5], [0.1]]),
    np.array([[1.0, 0.4]]),
    D=np.array([[0.3]]),
    offset=np.array([0.05]),
)
CONFIG = PAPER.replace(
    start="linear",
    latent_dim=4,
    signal_std=1e-9,
    process_std=1e-9,
    z_mean_std=0.0,
    inducing=3,
    recognition_window=6,
)


def recording(length=80, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(length, 1))
    return Record(
        u, SYSTEM.simulate(rng.normal(size=2), u)[0] + 0.01 * rng.normal(size=(length, 1))
    )


def test_without_gp_and_noise_the_model_runs_as_the_linear_system_with_its_feedthrough():
    record = recording()
    with double_precision():
        start = LinearStart.of(SYSTEM, [record], 6)
        model = linear_model(CONFIG, start, np.random.default_rng(0))
        x0 = np.array([0.7, -0.4])
        spare = np.array([0.3, 0.2])  # whatever the spare states are, nothing reads them
        inputs = jnp.asarray(record.u)[:, :, None]
        states = rollout(
            model.transition.condition(),
            jnp.asarray(np.append(x0, spare))[:, None],
            inputs,
            eps=jnp.zeros((len(record), 4, 1)),
        )
        outputs = np.asarray(model.emission(states, inputs))[:, :, 0]
    expected, expected_states = SYSTEM.simulate(x0, record.u)
    np.testing.assert_allclose(outputs, expected, atol=1e-7)
    np.testing.assert_allclose(np.asarray(states)[:, :2, 0], expected_states, atol=1e-7)
    # they are filters of the input, not zero
    assert np.abs(np.asarray(states)[20:, 2:, 0]).max() > 0.1


def test_the_first_state_is_the_linear_models_estimate():
    record = recording()
    with double_precision():
        model = linear_model(CONFIG, LinearStart.of(SYSTEM, [record], 6), np.random.default_rng(0))
        other = recording(seed=3)
        mean, log_std = model.first_state(jnp.asarray(other.y[:6]), jnp.asarray(other.u[:6]))
    expected, factor = InitialState.fit(SYSTEM, [record]).estimate(SYSTEM, other.u, other.y[:6])
    np.testing.assert_allclose(np.asarray(mean)[:2], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        np.exp(np.asarray(log_std)[:2]), np.maximum(np.sqrt(np.sum(factor**2, axis=1)), 1e-2)
    )


def test_a_random_walk_stays_where_it_is_and_begins_at_the_first_measurement():
    with double_precision():
        walk = LinearStart.random_walk(4, 1, 1, window=6)
        model = linear_model(CONFIG, walk, np.random.default_rng(0))
        record = recording()
        inputs = jnp.asarray(record.u)[:, :, None]
        states = rollout(
            model.transition.condition(),
            jnp.asarray([0.5, -0.2, 0.1, 0.3])[:, None],
            inputs,
            eps=jnp.zeros((len(record), 4, 1)),
        )
        np.testing.assert_allclose(np.asarray(states)[-1, :, 0], [0.5, -0.2, 0.1, 0.3], atol=1e-6)
        np.testing.assert_allclose(
            model.emission(states, inputs), np.asarray(states)[:, :1], atol=1e-12
        )
        means = np.array(
            [
                model.first_state(
                    jnp.asarray(record.y[t : t + 6]), jnp.asarray(record.u[t : t + 6])
                )[0]
                for t in range(20)
            ]
        )
    hidden = np.abs(means[:, 1:]).max(axis=0)
    assert (hidden > 0.01).all()  # not all at zero, see LinearStart.random_walk
    np.testing.assert_allclose(means[:, 0], record.y[:20, 0], atol=0.5)


def test_orders_nearly_as_good_as_the_best_are_kept_the_best_first(monkeypatch):
    errors = {1: 0.61, 2: 0.51, 3: 0.5, 4: 0.55, 5: 0.53, 6: 0.52}
    judged = [Judged(order, error, None) for order, error in errors.items()]
    monkeypatch.setattr(linear_start, "judge_orders", lambda *_, **__: judged)
    chosen = LinearOrders.choose([recording()], 6, 6)
    # two is as good as three; four are enough
    assert [each.order for each in chosen.limits] == [2, 3, 6, 5]
    assert chosen.together == 1


def test_linear_models_whose_mean_is_better_are_together_the_level_linear(monkeypatch):
    """As many states as the largest of them; no start beyond that."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 1))
    errors = {order: noise + rng.normal(size=(300, 1)) for order in (7, 8, 9)}
    errors[9] = noise + 0.98 * (errors[9] - noise)
    held_out = {
        order: HeldOutErrors([each], 6, MAX_RADIUS, [SYSTEM]) for order, each in errors.items()
    }
    judged = [Judged(order, found.rms, found) for order, found in held_out.items()]
    judged.append(Judged(12, 1.1 * max(found.rms for found in held_out.values()), None))
    monkeypatch.setattr(linear_start, "judge_orders", lambda *_, **__: judged)
    starts = Starts(DEFAULT.resolved([recording()]), [recording()]).with_states_of_the_data()
    assert starts.together == 3
    assert starts.config.latent_dim == 9
    assert sorted(one.order for one in starts.orders.limits) == [7, 8, 9]
    assert LEVELS["linear"].restarts(16, starts) == 3
    random = Starts(starts.config.replace(start="random"), [recording()])
    assert LEVELS["linear"].restarts(16, random) == 1


def test_identification_finds_the_system_and_its_places():
    record = recording(300)
    limits = LinearOrders.choose([record], 4, 6).limits
    assert limits[0].order == 2
    # far worse, while more states than two do no harm
    assert 1 not in [each.order for each in limits]
    start = LinearStart.fit([record], limits[0], 6)
    found = LinearSystem(
        start.weight[:, : start.order],
        start.weight[:, start.order :],
        start.emission.states,
        D=start.emission.inputs,
        offset=start.emission.offset,
    )
    np.testing.assert_allclose(found.markov(12), SYSTEM.markov(12), atol=0.01)
    places = start.places(50, 2.0, np.random.default_rng(0))
    visited = np.concatenate(start.visited)
    assert (places.min(axis=0) > visited.min(axis=0) - 1.5).all()
    assert (places.max(axis=0) < visited.max(axis=0) + 1.5).all()
    assert (places.std(axis=0) > 0.5 * visited.std(axis=0)).all()


def numbered(*lengths):
    """Records whose inputs count all rows."""
    counts = np.split(np.arange(float(sum(lengths))), np.cumsum(lengths)[:-1])
    return [Record(count, np.zeros(len(count))) for count in counts]


@pytest.mark.parametrize("lengths", [(100,), (90, 10), (40, 60)])
def test_short_data_are_taken_whole(lengths):
    records = numbered(*lengths)
    assert spread_out(records, most=100, piece=30) == records


@pytest.mark.parametrize("lengths", [(1000,), (400, 90, 510), (7,) * 150, (101,)])
def test_of_long_data_evenly_spread_pieces_are_taken(lengths):
    records = numbered(*lengths)
    pieces = spread_out(records, most=100, piece=30)
    rows = [piece.u[:, 0] for piece in pieces]
    taken = np.concatenate(rows)
    assert 50 <= len(taken) <= 100
    assert len(np.unique(taken)) == len(taken)
    assert all(np.all(np.diff(part) == 1.0) and len(part) <= 30 for part in rows)
    assert len(rows) > 1
    assert rows[0][0] == 0.0
    assert rows[-1][-1] == sum(lengths) - 1


def test_a_model_of_a_part_is_the_same_from_the_model_of_all_as_from_scratch():
    record = recording(300)
    limits = Limits(2, 0.999)
    of_all = LinearStart.fit([record], limits, 6)
    near = LinearStart.fit([record[:200]], limits, 6, near=of_all)
    scratch = LinearStart.fit([record[:200]], limits, 6)
    np.testing.assert_allclose(near.system.markov(12), scratch.system.markov(12), atol=1e-4)
    # and it is not the model of all
    assert np.abs(near.system.markov(12) - of_all.system.markov(12)).max() > 1e-4


def test_a_turned_start_is_the_same_model_with_independent_errors_of_its_first_state():
    rng = np.random.default_rng(7)
    u = rng.normal(size=(200, 1))
    y = np.zeros((200, 1))
    for t in range(2, 200):
        y[t] = 1.6 * y[t - 1] - 0.7 * y[t - 2] + u[t - 1]
    records = [Record(u, y / y.std() + 0.05 * rng.normal(size=y.shape))]
    start = LinearStart.fit(records, Limits(2, 0.999), 6)
    turned = start.turned()
    np.testing.assert_allclose(turned.system.markov(20), start.system.markov(20), atol=1e-10)
    # the covariance of the first output is that of the errors as they are, which depend on each
    # other: taken as independent in the old coordinates they would say another
    C = np.asarray(start.emission.states)
    exact = C @ start.first_factor @ start.first_factor.T @ C.T
    std = np.exp(turned.first_log_std)
    seen = np.asarray(turned.emission.states)
    np.testing.assert_allclose((seen * std**2) @ seen.T, exact, rtol=1e-6)
    apart = (C * np.exp(2.0 * start.first_log_std)) @ C.T
    assert abs((apart / exact).item() - 1.0) > 0.01
    # what is recognised and where the run was are the same in the new coordinates
    first = np.concatenate([records[0].y[:6].ravel(), u[:6].ravel()])
    old = start.first_weight @ first + start.first_bias
    new = turned.first_weight @ first + turned.first_bias
    np.testing.assert_allclose(seen @ new, C @ old, atol=1e-10)
    np.testing.assert_allclose(turned.visited[0][:, :2] @ seen.T, start.visited[0][:, :2] @ C.T)
