"""The compiled trainer against its oracle: the ELBO in JAX, its gradient, and Adam by optax."""

from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from prssm.data.record import Record
from prssm.data.windows import sliding
from prssm.dynamics.engines.choice import compiled_trainer as trainer
from prssm.foundation.precision import double_precision
from prssm.models.prssm.compiled import Rows, kinds, why_not
from prssm.models.prssm.config import DEFAULT, PAPER
from prssm.models.prssm.elbo import Anchor, Objective, Own, Shown, TrainingData
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.starts.start import Starts
from prssm.training.optimise import PerRestart
from prssm.training.race import Moving
from prssm.training.schedule import Schedule

ADAM = optax.scale_by_adam()
ROWS = 60
SMALL = {
    "latent_dim": 3,
    "inducing": 5,
    "horizon": 12,
    "batch": 3,
    "samples": 2,
    "recognition_window": 4,
}
SMALL |= {"recognition_hidden": 6, "folds": 0, "complexity": "free", "iterations": 10, "stride": 1}


def record(inputs=1, outputs=2):
    random = np.random.default_rng(5)
    y = random.normal(size=(ROWS, outputs))
    y[20:26, 0] = np.nan
    y[31, -1] = np.nan
    return Record(random.normal(size=(ROWS, inputs)), y)


def case(preset, inputs=1, outputs=2, memory=None, **options):
    """A problem of two restarts, one of which is not shown some rows, with all its parts."""
    config = {"paper": PAPER, "default": DEFAULT}[preset].replace(**SMALL | options)
    data = record(inputs, outputs)
    windows = sliding([data], config.horizon)
    random = np.random.default_rng(0)
    models = jax.tree.map(
        lambda leaf: leaf + 0.1 * random.normal(size=leaf.shape),
        Starts(config, [data]).create(LEVELS["free"], 2),
    )
    if memory is not None:
        models = eqx.tree_at(lambda m: m.noise_memory, models, np.full((2, outputs), memory))
    anchor = jax.tree.map(lambda leaf: leaf + 0.1 * random.normal(size=leaf.shape), models)
    rows = np.ones((2, ROWS), dtype=bool)
    rows[1, 40:50] = False
    starts = np.stack([windows.starts, windows.starts[::-1] // 2])
    steps = np.array([60.0, 50.0])
    weights = np.array([[1.0, 0.7], [3.0, 2.0], [1.0, 0.0]])
    own = Own(
        Shown(jnp.asarray(rows), jnp.asarray(starts), jnp.asarray(steps)),
        Anchor.of(anchor),
        *weights,
    )
    return config, windows, models, anchor, own


def problem_of(config, windows, models, anchor, own):
    rows = Rows.of(models)
    dims = models.transition.gp.zeta.shape[1:]
    sizes = trainer.Sizes(
        dx=dims[0],
        du=windows.u.shape[1],
        dy=windows.y.shape[1],
        points=dims[1],
        steps=config.horizon,
        batch=config.batch,
        samples=config.samples,
        window=config.recognition_window,
        per_step=int(config.draws == "step"),
        full=0,
        rows=len(windows.u),
        windows=len(windows.starts),
        **kinds(models),
    )
    problem = trainer.Problem(
        sizes,
        rows.offsets(),
        np.ascontiguousarray(windows.u),
        np.ascontiguousarray(windows.y),
        np.ascontiguousarray(windows.y_filled),
        part=np.array([0, 1]),
        shown=np.asarray(own.shown.rows).astype(np.uint8),
        starts=np.asarray(own.shown.starts),
        steps=np.asarray(own.shown.steps),
        anchors=rows.rows(anchor),
        gp_weight=np.asarray(own.gp_weight),
        anchor_precision=np.asarray(own.anchor_precision),
        memory_weight=np.asarray(own.memory_weight),
    )
    theta = rows.rows(models)
    return rows, problem, Moving.begin(theta)


def draws_of(config, key, count, starts):
    """What `Objective` draws from a key, as numbers."""
    key_batch, key_noise = jax.random.split(key)
    index = jax.random.choice(key_batch, jnp.arange(starts), (config.batch,))
    trajectories = config.batch * config.samples
    eps = jax.random.normal(key_noise, (config.horizon, config.latent_dim, trajectories))
    function = None
    if config.draws == "trajectory":
        shape = (config.latent_dim, config.inducing, trajectories)
        function = np.asarray(jax.random.normal(jax.random.fold_in(key_noise, 1), shape))[None]
    return trainer.Draws(np.asarray(index)[None].astype(np.int64), np.asarray(eps)[None], function)


CASES = {
    "default": ("default", {}),
    "neurons, many trajectories": ("default", {"neurons": 5, "batch": 30}),
    "neurons, no inputs": (
        "default",
        {"neurons": 4, "latent_dim": 4, "inputs": 0, "draws": "step"},
    ),
    "more than is kept on tape": ("default", {"horizon": 40, "batch": 500}),
    "no inputs": ("default", {"inputs": 0}),
    "one output, two inputs": ("default", {"inputs": 2, "outputs": 1}),
    "a new function at every step": ("default", {"draws": "step"}),
    "white noise at the start": ("default", {"memory": 0.0}),
    "paper": ("paper", {}),
    "paper, zero mean": ("paper", {"mean": "zero", "draws": "trajectory"}),
    "paper, full covariance": ("paper", {"inducing_covariance": "full", "mean": "linear"}),
}


def objective_of(config):
    return Objective(
        config.horizon,
        config.batch,
        config.samples,
        window=config.recognition_window,
        engine="scan",
        draws=config.draws,
    )


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient_are_those_of_the_objective(name):
    preset, options = CASES[name]
    with double_precision():
        config, windows, models, anchor, own = case(preset, **options)
        assert why_not(models) is None
        rows, problem, moving = problem_of(config, windows, models, anchor, own)
        key = jax.random.key(3)
        draws = draws_of(config, key, 1, len(windows.starts))
        objective = objective_of(config)
        data = TrainingData.of(windows)
        oracle = jax.jit(
            jax.value_and_grad(
                lambda model, mine, weight: objective(model, PerRestart(data, mine), key, weight)
            )
        )
        for restart, kl_weight in product(range(2), (1.0, 0.03)):
            mine, model = jax.tree.map(lambda leaf, r=restart: leaf[r], (own, models))
            expected, slope = oracle(model, mine, kl_weight)
            value, gradient = trainer.value_and_gradient(
                problem, moving, draws, restart=restart, kl_weight=kl_weight
            )
            assert value == pytest.approx(float(expected), rel=1e-9)
            slopes = rows.rows(jax.tree.map(lambda leaf: leaf[None], slope))[0]
            np.testing.assert_allclose(
                gradient, slopes, rtol=1e-6, atol=1e-8 * np.abs(slopes).max()
            )


@pytest.mark.parametrize("neurons", [0, 5])
def test_single_precision_is_double_precision_but_for_rounding(neurons):
    """Each array's gradient, next to its largest entry."""
    with double_precision():
        config, windows, models, anchor, own = case("default", neurons=neurons, batch=30)
        rows, problem, moving = problem_of(config, windows, models, anchor, own)
        double = draws_of(config, jax.random.key(3), 1, len(windows.starts))
    single = trainer.Draws(
        double.windows, double.eps.astype(np.float32), double.function.astype(np.float32)
    )
    (expected, slopes), (value, gradient) = (
        trainer.value_and_gradient(problem, moving, draws, restart=1, kl_weight=1.0)
        for draws in (double, single)
    )
    assert value == pytest.approx(expected, rel=1e-5)
    assert value != expected
    ends = [*rows.begins.values()][1:]
    for ours, theirs in zip(np.split(gradient, ends), np.split(slopes, ends), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


def test_training_takes_the_steps_of_adam_on_clipped_gradients():
    """Against optax on the same draws, iteration by iteration."""
    with double_precision():
        config, windows, models, anchor, own = case("default")
        rows, problem, moving = problem_of(config, windows, models, anchor, own)
        objective = objective_of(config)
        schedule = Schedule(20, 0.05, 0.001, ramp=4, clip=30.0)
        data = TrainingData.of(windows)
        theta = jnp.asarray(moving.theta)
        states = jax.vmap(ADAM.init)(theta)

        def loss(row, mine, key, weight):
            model = jax.tree.map(lambda leaf: leaf[0], rows.models(row[None]))
            return -objective(model, PerRestart(data, mine), key, weight)

        slopes_of = jax.jit(jax.vmap(jax.grad(loss), (0, 0, None, None)))
        for iteration in range(6):
            key = jax.random.key(iteration)
            slopes = slopes_of(theta, own, key, schedule.weight(iteration))
            norms = jnp.linalg.norm(slopes, axis=1, keepdims=True)
            change, states = jax.vmap(ADAM.update)(slopes * jnp.minimum(1.0, 30.0 / norms), states)
            theta = theta - schedule.rate(iteration) * change
            trainer.advance(
                problem,
                moving,
                draws_of(config, key, 1, len(windows.starts)),
                schedule=tuple(schedule),
                first=iteration,
            )
        assert (moving.updates == 6).all()
        assert float(norms.min()) > 30.0
        np.testing.assert_allclose(moving.theta, theta, rtol=1e-6, atol=1e-7)


def test_a_restart_that_is_lost_stays_where_it_was():
    with double_precision():
        config, windows, models, anchor, own = case("default")
        _, problem, moving = problem_of(config, windows, models, anchor, own)
        moving.theta[1] = 1e200
        before = moving.theta.copy()
        draws = draws_of(config, jax.random.key(0), 1, len(windows.starts))
        values = trainer.advance(problem, moving, draws, schedule=(5, 0.1, 0.1, 1, 1e9), first=3)
        assert moving.alive_until.tolist() == [-1, 3]
        assert np.isfinite(values[0])
        assert not np.isfinite(values[1])
        np.testing.assert_array_equal(moving.theta[1], before[1])
        assert (moving.theta[0] != before[0]).any()


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_results_do_not_depend_on_the_number_of_threads(threads, monkeypatch):
    with double_precision():
        config, windows, models, anchor, own = case("default", batch=30)
        results = []
        for count in ("3", threads):
            monkeypatch.setenv("PRSSM_THREADS", count)
            _, problem, moving = problem_of(config, windows, models, anchor, own)
            draws = draws_of(config, jax.random.key(0), 1, len(windows.starts))
            trainer.advance(problem, moving, draws, schedule=(5, 0.1, 0.1, 1, 1e9), first=0)
            results.append(moving.theta)
        np.testing.assert_array_equal(*results)


def test_numbers_too_small_for_full_precision_stay_numbers_elsewhere(monkeypatch):
    """Compiled code takes them as zero, in the thread of its caller too, but only meanwhile."""
    monkeypatch.setenv("PRSSM_THREADS", "1")
    smallest = np.full(64, np.finfo(np.float32).tiny, dtype=np.float32)
    with double_precision():
        config, windows, models, anchor, own = case("default")
        _, problem, moving = problem_of(config, windows, models, anchor, own)
        draws = draws_of(config, jax.random.key(0), 1, len(windows.starts))
        trainer.advance(problem, moving, draws, schedule=(5, 0.1, 0.1, 1, 1e9), first=0)
    assert (smallest * np.float32(0.5) > 0.0).all()
