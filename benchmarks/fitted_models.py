"""Fitted models of any size from random parameters, without training."""

import jax
import numpy as np

from prssm.data.scaling import Scaler
from prssm.linear.first_state import InitialState
from prssm.linear.system import LinearSystem
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.calibration import Calibration
from prssm.models.prssm.estimator import PRSSM
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.starts.start import blank_model, stacked
from prssm.training.log import TrainingLog


def random_prssm(
    states=2, inputs=1, outputs=1, points=4, members=2, *, seed=0, scale=1.0, stride=1, **options
):
    """A mixture whose free runs stay bounded; `options` are those of PRSSM, preset default.

    `scale` multiplies the physical units.
    """
    rng = np.random.default_rng(seed)
    options = {"horizon": 20, "recognition_window": 3, "recognition_hidden": 4} | options
    model = PRSSM(latent_dim=states, inducing=points, folds=0, iterations=1, **options)
    model.config_ = model.config
    blank = blank_model(model.config, inputs, outputs)
    mixed = stacked([_shaken(blank, rng) for _ in range(members)])
    model.mixture_ = Mixture(mixed, model._window, model.config.draws)
    model.calibration_ = Calibration(rng.uniform(0.8, 2.0, outputs))
    model.training_ = TrainingLog.nothing()
    model.level_ = "free"
    model.held_out_ = {}
    model.steady_ = True
    _describe(model, rng, inputs=inputs, outputs=outputs, scale=scale, stride=stride)
    return model


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
    )
    model = LinearSSM(order=states, warmup=warmup)
    model._set(system, start)
    _describe(model, rng, inputs=inputs, outputs=outputs, scale=scale, stride=stride)
    return model


def _shaken(model, rng):
    """The same structure with numbers that make every term matter."""
    leaves, structure = jax.tree.flatten(model)
    shaken = jax.tree.unflatten(
        structure, [np.asarray(leaf) + 0.2 * rng.normal(size=np.shape(leaf)) for leaf in leaves]
    )
    mean = shaken.transition.mean
    if not jax.tree.leaves(mean):
        return shaken
    states, din = mean.weight.shape
    A = rng.normal(size=(states, states))
    A *= 0.7 / np.abs(np.linalg.eigvals(A)).max()
    B = rng.normal(size=(states, din - states))
    return jax.tree.unflatten(
        structure,
        [
            np.concatenate([A, B], axis=1) if leaf is mean.weight else leaf
            for leaf in jax.tree.leaves(shaken)
        ],
    )


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
