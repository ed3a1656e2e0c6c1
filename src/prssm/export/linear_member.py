"""A linear model as the one member of a mixture, without inducing points.

All that it is uncertain of is its first state.
"""

import numpy as np

from prssm.export.description import FilterNoise, Member, Recognition
from prssm.export.filter_noise import filter_noises
from prssm.models.linear_ssm import LinearSSM


def linear_member(model: LinearSSM) -> Member:
    """A fitted LinearSSM as plain arrays."""
    system = model.system_
    start = model.start_
    order = system.order
    din = order + system.B.shape[1]
    return Member(
        zeta=np.zeros((1, 0, din)),
        lengthscale=np.ones((1, din)),
        signal_var=np.zeros(1),
        white=np.zeros((1, 0, 0)),
        v_mean=np.zeros((order, 0)),
        v_factor=np.zeros((order, 0, 0)),
        mean_weight=np.concatenate([system.A, system.B], axis=1),
        mean_bias=np.zeros(order),
        neuron_out=np.zeros((order, 0)),
        neuron_weight=np.zeros((0, din)),
        neuron_bias=np.zeros(0),
        process_std=np.zeros(order),
        emission_weight=np.concatenate([system.C, system.D], axis=1),
        emission_bias=system.offset,
        output_std=start.error_std,
        output_correlation=start.correlation,
        prior_mean=start.mean,
        prior_factor=start.factor,
        recognition=_recognition(model) if model.window_ else None,
        filter=_noise(model),
    )


def _recognition(model: LinearSSM) -> Recognition:
    """An affine map of the first samples, without a hidden layer."""
    order = model.system_.order
    weight, bias, factor = model.start_.affine(model.system_, model.window_)
    return Recognition(
        hidden_weight=np.zeros((0, weight.shape[1])),
        hidden_bias=np.zeros(0),
        mean_weight=np.zeros((order, 0)),
        direct=weight,
        direct_bias=bias,
        log_std_weight=np.zeros((order, 0)),
        log_std_bias=np.zeros(order),
        factor=factor,
    )


def _noise(model: LinearSSM) -> FilterNoise:
    """Process noise is in proportion to how the states have moved in training."""
    start = model.start_
    order = model.system_.order
    (noise,) = filter_noises(
        start.error_std[None],
        start.correlation[None],
        process=np.zeros((1, order, order)),
        moved=(start.factor @ start.factor.T)[None],
        factors=[model.noises_],
    )
    return noise
