"""Fitted models of any size from random parameters, without training."""

import jax
import numpy as np

from prssm.data.scaling import Scaler
from prssm.dynamics.transition import NetworkMean
from prssm.export.describing import kernel_name
from prssm.export.profiles import PROFILES
from prssm.gp.sparse import DiagonalInducing
from prssm.linear.first_state import InitialState
from prssm.linear.system import LinearSystem
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.config import RESOLVED
from prssm.models.prssm.estimator import PRSSM
from prssm.models.prssm.starts.start import blank_model, stacked
from prssm.prediction.seen import Seen, range_of
from prssm.training.log import TrainingLog


def random_prssm(
    states=2,
    inputs=1,
    outputs=1,
    points=4,
    members=2,
    *,
    seed=0,
    scale=1.0,
    stride=1,
    seen=False,
    **options,
):
    """A mixture whose free runs stay bounded; `options` are those of PRSSM, preset default.

    `scale` multiplies the physical units. With `seen` its band is wider outside of some rows.
    """
    rng = np.random.default_rng(seed)
    options = {"horizon": 20, "recognition_window": 3, "recognition_hidden": 4} | options
    model = PRSSM(latent_dim=states, inducing=points, folds=0, iterations=1, **options)
    blank = blank_model(model.config, inputs, outputs)
    mixed = stacked([_shaken(blank, rng) for _ in range(members)])
    leaves = jax.tree_util.tree_leaves_with_path(mixed)
    training, curves = TrainingLog.nothing().to_parts()
    arrays = {f"models{jax.tree_util.keystr(path)}": leaf for path, leaf in leaves}
    arrays |= {f"training.{name}": curve for name, curve in curves.items()}
    arrays["calibration"] = rng.uniform(0.8, 2.0, outputs)
    resolved = {name: getattr(model.config, name) for name in RESOLVED}
    values = {"training": training, "resolved": resolved, "level": "free", "held_out": {}}
    _describe(model, rng, inputs=inputs, outputs=outputs, scale=scale, stride=stride)
    model._restore(values, arrays)
    model.seen_ = random_seen(states, inputs, outputs, seed=seed) if seen else None
    return model


def random_seen(states, inputs, outputs, *, seed=0, rows=120):
    """What a training of random rows has shown: runs of `record_for` are often outside of it."""
    rng = np.random.default_rng([seed, 5])
    u = rng.uniform(-1.0, 1.0, size=(rows, inputs))
    y = rng.uniform(-1.0, 1.0, size=(rows, outputs))
    path = rng.normal(size=(rows, states))
    return Seen.fit([path], [u], input_range=range_of([u]), output_range=range_of([y]))


def random_linear(states=3, inputs=1, outputs=1, *, seed=0, scale=1.0, stride=1, warmup=4):
    """A stable linear model."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(states, states))
    A *= 0.9 / np.abs(np.linalg.eigvals(A)).max()
    system = LinearSystem(
        A,
        rng.normal(size=(states, inputs)),
        rng.normal(size=(outputs, states)),
        rng.normal(size=(outputs, inputs)),
        rng.normal(size=outputs),
    )
    start = InitialState(
        rng.normal(size=states),
        rng.normal(size=(states, states)),
        rng.uniform(0.1, 0.5, outputs),
        correlation=rng.uniform(0.0, 0.9, outputs),
        start_std=rng.uniform(0.1, 0.5, outputs),
    )
    model = LinearSSM(order=states, warmup=warmup)
    model.window_ = warmup
    model._set(system, start)
    _describe(model, rng, inputs=inputs, outputs=outputs, scale=scale, stride=stride)
    return model


def _shaken(model, rng):
    """The same structure with numbers that make every term matter."""
    leaves, structure = jax.tree.flatten(model)
    numbers = [np.asarray(leaf) + 0.2 * rng.normal(size=np.shape(leaf)) for leaf in leaves]
    shaken = jax.tree.unflatten(structure, numbers)
    mean = shaken.transition.mean
    gp = shaken.transition.gp
    replaced = {}
    if isinstance(gp.inducing, DiagonalInducing):
        replaced[id(gp.inducing.mean)] = _plausible(gp, rng)
    if jax.tree.leaves(mean):
        states, din = mean.weight.shape
        A = rng.normal(size=(states, states))
        A *= 0.7 / np.abs(np.linalg.eigvals(A)).max()
        B = rng.normal(size=(states, din - states))
        replaced[id(mean.weight)] = np.concatenate([A, B], axis=1)
    if isinstance(mean, NetworkMean):  # steep enough to bend, small enough not to be chaotic
        replaced[id(mean.neuron_weight)] = rng.normal(size=mean.neuron_weight.shape)
        replaced[id(mean.neuron_out)] = 0.3 * rng.normal(size=mean.neuron_out.shape)
    leaves = [replaced.get(id(leaf), leaf) for leaf in numbers]
    return jax.tree.unflatten(structure, leaves)


def _plausible(gp, rng):
    """Means of inducing outputs as a smooth function has them, half as large as the kernel's."""
    profile = PROFILES[kernel_name(gp.kernel)]
    drawn = []
    for d in range(len(gp.inducing.mean)):
        at = d % len(gp.zeta)
        zeta = gp.zeta[at] / np.exp(gp.kernel.log_lengthscale[at])
        apart = np.sum((zeta[:, None] - zeta) ** 2, axis=2)
        root = np.linalg.cholesky(profile(apart) + 1e-6 * np.eye(len(zeta)))
        drawn.append(0.5 * np.exp(gp.kernel.log_std[at]) * root @ rng.normal(size=len(zeta)))
    return np.stack(drawn)


def _describe(model, rng, *, inputs, outputs, scale, stride):
    model.scaler_ = Scaler(
        scale * rng.normal(size=inputs),
        scale * rng.uniform(0.5, 2.0, inputs),
        scale * rng.normal(size=outputs),
        y_std=scale * rng.uniform(0.5, 2.0, outputs),
    )
    model.input_names_ = tuple(f"u{i + 1}" for i in range(inputs))
    model.output_names_ = tuple(f"y{i + 1}" for i in range(outputs))
    model.dt_ = 0.1
    model.stride_ = stride


def record_for(model, rows=40, seed=1):
    """Inputs and outputs (T, Du), (T, Dy) in the units of the model."""
    rng = np.random.default_rng(seed)
    scaler = model.scaler_
    u = scaler.u_mean + scaler.u_std * rng.normal(size=(rows, len(scaler.u_mean)))
    y = scaler.y_mean + scaler.y_std * rng.normal(size=(rows, len(scaler.y_mean)))
    return u, y
