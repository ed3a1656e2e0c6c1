"""Fitted models that are written down instead of trained, for the tests of what uses them."""

import equinox as eqx
import jax
import numpy as np
from rollout_cases import make_transition

from prssm.data.domain import Domain
from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.dynamics.transition import NetworkMean
from prssm.foundation.precision import double_precision
from prssm.inference.noise_search import NoiseFactors
from prssm.linear.first_state import InitialState
from prssm.linear.system import LinearSystem
from prssm.models.estimator import TrainingFacts
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission
from prssm.models.prssm.estimator import PRSSM
from prssm.models.prssm.filtering.members import FilterMembers
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.recognition import Recognition
from prssm.models.prssm.starts.start import stacked

WINDOW = 3


def small_prssm(
    members=2,
    dx=2,
    du=1,
    dy=1,
    *,
    points=4,
    neurons=0,
    draws="trajectory",
    kernel="squared-exponential",
    stride=1,
    shared=False,
):
    """A stable PR-SSM with a recognition model, a calibrated band and scales far from one."""
    with double_precision():
        models = [
            _member(seed, (dx, du, dy), points=points, kernel=kernel, shared=shared)
            for seed in range(members)
        ]
    if neurons:
        models = [_with_neurons(one, neurons, seed) for seed, one in enumerate(models)]
    model = PRSSM(latent_dim=dx, recognition_window=WINDOW)
    model.mixture_ = Mixture(stacked(models), WINDOW, draws)
    model.config_ = model.config.replace(inducing=points, neurons=neurons, draws=draws)
    model.calibration_ = Calibration(np.linspace(1.2, 1.5, dy))
    model.stride_ = stride
    model.filter_ = FilterMembers.equal(model.mixture_.models, NoiseFactors())
    _describe(model, du, dy)
    return model


def _member(seed, sizes, *, points, kernel, shared):
    dx, du, dy = sizes
    rng = np.random.default_rng(seed)
    transition = make_transition(
        dx, du, points, kernel=kernel, mean="linear", seed=seed, covariance="full", shared=shared
    )
    transition = jax.tree.map(np.asarray, transition)
    seen = WINDOW * (dy + du)
    return StateSpaceModel(
        transition,
        LinearEmission(
            rng.normal(size=(dy, dx)), 0.2 * rng.normal(size=(dy, du)), 0.1 * rng.normal(size=dy)
        ),
        Recognition.around(
            0.3 * rng.normal(size=(dx, seen)),
            0.1 * rng.normal(size=dx),
            np.full(dx, np.log(0.2)),
            hidden=5,
            part=1.0,
            rng=rng,
        ),
        log_output_std=np.full(dy, np.log(0.1)),
        noise_memory=np.zeros(dy),
    )


def _with_neurons(model, count, seed):
    """The same model with neurons in its prior mean."""
    rng = np.random.default_rng([seed, count])
    linear = model.transition.mean
    states, din = linear.weight.shape
    mean = NetworkMean(
        linear.weight,
        linear.bias,
        neuron_out=0.5 * rng.normal(size=(states, count)),
        neuron_weight=rng.normal(size=(count, din)),
        neuron_bias=rng.normal(size=count),
    )
    return eqx.tree_at(lambda whole: whole.transition.mean, model, mean)


def small_linear(stride=1):
    """A stable linear model of second order with one input and one output."""
    model = LinearSSM(order=2, warmup=WINDOW)
    model.window_ = WINDOW
    model.stride_ = stride
    system = LinearSystem(
        np.array([[0.8, 0.2], [-0.1, 0.7]]),
        np.array([[0.3], [0.5]]),
        np.array([[1.0, 0.4]]),
        D=np.array([[0.1]]),
        offset=np.array([0.05]),
    )
    start = InitialState(
        np.array([0.1, -0.1]),
        np.array([[0.5, 0.0], [0.2, 0.3]]),
        np.array([0.07]),
        correlation=np.array([0.4]),
        start_std=np.array([0.05]),
    )
    model._set(system, start)
    _describe(model, 1, 1)
    return model


def _describe(model, du, dy):
    scaler = Scaler(
        np.linspace(3.0, 4.0, du),
        np.linspace(2.0, 5.0, du),
        np.linspace(-1.0, 1.0, dy),
        y_std=np.linspace(5.0, 7.0, dy),
    )
    like = Record(
        np.zeros((2, du)),
        np.zeros((2, dy)),
        0.5,
        input_names=[f"valve {index}" for index in range(du)],
        output_names=[f"level {index}" for index in range(dy)],
    )
    model._describe(TrainingFacts(scaler, like, Domain()))


def small_record(model, rows=20, seed=0):
    """Inputs and outputs in the model's units, with a missing output in the first samples."""
    rng = np.random.default_rng(seed)
    scaler = model.scaler_
    u = scaler.u_mean + scaler.u_std * rng.normal(size=(rows, len(scaler.u_mean)))
    y = scaler.y_mean + scaler.y_std * rng.normal(size=(rows, len(scaler.y_mean)))
    y[1, 0] = np.nan
    return Record(u, y, 0.5)
