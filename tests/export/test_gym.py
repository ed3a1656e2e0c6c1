"""The environment: Gymnasium's own check, what an episode holds, and many of them at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from small_models import small_linear, small_prssm, small_record

import prssm
from prssm.export import reference
from prssm.export.describing import describe
from prssm.foundation.errors import DataError, OptionError


def reward(output, input, target):
    return -jnp.sum((output - target) ** 2) - 0.01 * jnp.sum(input**2)


@pytest.fixture(scope="module")
def model():
    return small_prssm(neurons=2)


@pytest.fixture(scope="module")
def one(model):
    record = small_record(model)
    return prssm.env(model, reward, 4, starts=record, targets=([-2.0], [2.0]), history=2)


@pytest.fixture(scope="module")
def stepped(one):
    """Compiled once for all tests."""
    return jax.jit(jax.vmap(one.episodes.reset)), jax.jit(jax.vmap(one.episodes.step))


@pytest.mark.filterwarnings("ignore:.*WARN.*")  # Gymnasium prefers actions between -1 and 1
def test_gymnasium_accepts_it(one):
    check_env(one, skip_render_check=True)


def test_an_episode_keeps_its_system_and_ends_at_the_horizon(one):
    observation, _ = one.reset(seed=1)
    assert observation.shape == (5,)
    before = one._episode
    for at in range(4):
        observation, gained, terminated, truncated, _ = one.step(np.array([3.5], np.float32))
        assert (terminated, truncated) == (False, at == 3)
        assert gained < 0.0
    after = one._episode
    np.testing.assert_array_equal(after.function, before.function)
    np.testing.assert_array_equal(after.target, before.target)
    assert after.member == before.member
    np.testing.assert_allclose(observation[2:4], 3.5)
    assert -2.0 < observation[4] < 2.0
    one.reset()
    assert np.abs(one._episode.function - before.function).max() > 0.1


def test_episodes_have_the_moments_of_the_model(model, one, stepped):
    """The next output of many episodes that start alike: members, functions, noises."""
    reset, step = stepped
    count = 4000
    episode, _ = reset(jax.random.split(jax.random.key(0), count))
    fixed = episode._replace(x=jnp.tile(jnp.array([0.3, -0.2]), (count, 1)))
    action = jnp.full((count, 1), 4.0)
    _, outcome = step(fixed, action, jax.random.split(jax.random.key(1), count))
    expected = next_outputs(model, np.array([0.3, -0.2]), np.array([4.0]), count)
    got = np.asarray(outcome.observation[:, 0], np.float64)
    assert got.mean() == pytest.approx(expected.mean(), abs=6 * expected.std() / np.sqrt(count))
    assert got.std() == pytest.approx(expected.std(), rel=6 / np.sqrt(count))


def next_outputs(model, x, u, count):
    """Measured outputs one step after a state, by the plain run of the model's description."""
    description = describe(model)
    scaled = description.scaled_inputs(u)
    outputs = []
    for index, member in enumerate(description.members):
        rng = np.random.default_rng(index)
        shape = (len(x), description.points, count // 2)
        v = member.v_mean[..., None] + member.v_factor @ rng.standard_normal(shape)
        start = np.repeat(x[:, None], count // 2, axis=1)
        eps = rng.standard_normal(start.shape)
        moved = reference.step(
            description, member, start, scaled, weights=member.weights(v), eps=eps
        )
        seen = reference.emit(member, moved, scaled)
        noise = member.output_std[:, None] * rng.standard_normal(seen.shape)
        outputs.append(description.physical_outputs((seen + noise).T)[:, 0])
    return np.concatenate(outputs)


def test_many_environments_are_one_call():
    model = small_linear()
    many = prssm.env(model, lambda output, input: output[0], 3, envs=5, inputs=([0.0], [6.0]))
    observation, _ = many.reset(seed=2)
    assert observation.shape == (5, 2)
    assert len(np.unique(observation[:, 0])) == 5
    actions = np.full((5, 1), 9.0, np.float32)
    for at in range(3):
        observation, gained, _, truncated, _ = many.step(actions)
        assert truncated.all() == (at == 2)
    np.testing.assert_allclose(observation[:, 1], 6.0)  # cut to what is allowed
    again, gained, _, truncated, _ = many.step(actions)  # starts anew
    assert not truncated.any()
    np.testing.assert_array_equal(gained, 0.0)
    np.testing.assert_allclose(again[:, 1], 3.0)  # the mean input, before any action
    repeated, _ = many.reset(seed=2)
    np.testing.assert_array_equal(repeated, many.reset(seed=2)[0])


def test_mistakes_are_named(one):
    model = small_linear()
    with pytest.raises(OptionError, match="horizon: expected at least 1, got 0"):
        prssm.env(model, reward, 0)
    with pytest.raises(OptionError, match=r"inputs: expected a lowest and a highest .* got \(2, 1"):
        prssm.env(model, reward, 9, inputs=(2, 1))
    with pytest.raises(OptionError, match="targets: expected a lowest and a highest value, got 3"):
        prssm.env(model, reward, 9, targets=3)
    with pytest.raises(DataError, match="starts: expected a recording of at least 3 rows"):
        prssm.env(model, reward, 9, starts=small_record(model, rows=2))
    with pytest.raises(OptionError, match=r"reward: expected one number, got an array \(1,\)"):
        prssm.env(model, lambda output, input: output, 9)
    with pytest.raises(OptionError, match="reward: expected a function of 2 arrays of JAX, got"):
        prssm.env(model, reward, 9)
    one.reset()
    with pytest.raises(DataError, match=r"action: expected an array \(1,\), got \(2,\)"):
        one.step(np.zeros(2))
