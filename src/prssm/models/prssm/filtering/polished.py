"""First states of networks: the most likely ones under all rows that the recognition model reads.

A regression from samples to states is a rough guess where there are many states. With it as m, its
deviations as P^-1/2 and yhat the network's own run,

    (x - m)' P (x - m) + sum_r |y_r - yhat_r(x)|^2 / sensor noise^2   is least:

Gauss-Newton steps by the equations that the network was trained with. The curvature there says how
well the state is known.
"""

import numpy as np
from jaxtyping import Float

from prssm.dynamics.networks.equations import equations
from prssm.dynamics.networks.system import NetworkSystem
from prssm.dynamics.transition import NetworkMean
from prssm.gp.kernels import SquaredExponential
from prssm.inference.state_space import Array
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission
from prssm.models.prssm.filtering.gauss_newton import Local, least
from prssm.models.prssm.filtering.short_start import Firsts

_NO_SIGNAL = 1e-3  # signal deviation below which a GP plays no part
_SHORTER = 0.5  # times a step of Gauss-Newton, where a whole one does not help
_TRIES = 6
_SMALL = 1e-9  # gain, relative to the objective, of the last step


def is_network(models: StateSpaceModel) -> bool:
    """Whether the dynamics are a network's alone: no GP plays a part."""
    kernel = models.transition.gp.kernel
    return (
        isinstance(models.transition.mean, NetworkMean)
        and isinstance(models.emission, LinearEmission)
        and isinstance(kernel, SquaredExponential)
        and float(np.max(kernel.log_std)) < np.log(_NO_SIGNAL)
    )


def polished(
    models: StateSpaceModel, u: Float[Array, "L Du"], y: Float[Array, "L Dy"], *, rough: Firsts
) -> Firsts:
    """Better first states of networks whose arrays lead with the members, from rough ones.

    `y` has NaN where nothing was measured; `rough` has the deviations of independent states.
    """
    found = [
        _one(models, member, u, y=y, mean=mean, std=std)
        for member, (mean, std) in enumerate(zip(rough.mean, rough.factor, strict=True))
    ]
    means, factors = zip(*found, strict=True)
    return Firsts(np.stack(means), np.stack(factors))


def _one(
    models: StateSpaceModel,
    member: int,
    u: Array,
    *,
    y: Array,
    mean: Array,
    std: Array,
) -> tuple[Array, Array]:
    """The most likely state of one member, and a factor of its covariance."""
    noise = np.exp(np.asarray(models.log_output_std)[member])
    system = _system(models, member, noise)
    prior = np.diag(std**-2.0)

    def at(x: Array) -> Local:
        found = equations(np.append(system.row(), x), system.shape, u, y / noise)
        away = x - mean
        if found is None:
            return Local(np.asarray(np.inf), prior @ away, prior)
        own = slice(system.shape.shared, None)
        cost = found[2] + float(away @ prior @ away)
        return Local(np.asarray(cost), found[1][own] + prior @ away, found[0][own, own] + prior)

    x, local = least(at, mean, shorter=_SHORTER, tries=_TRIES, small=_SMALL)
    return x, np.linalg.inv(np.linalg.cholesky(local.curvature)).T


def _system(models: StateSpaceModel, member: int, noise: Array) -> NetworkSystem:
    """A member's network, with outputs in units of their noise."""
    mean = models.transition.mean
    emission = models.emission
    assert isinstance(mean, NetworkMean)
    assert isinstance(emission, LinearEmission)
    parts = {
        name: np.asarray(getattr(mean, name))[member]
        for name in ("weight", "bias", "neuron_out", "neuron_weight", "neuron_bias")
    }
    return NetworkSystem(
        **parts,
        C=np.asarray(emission.states)[member] / noise[:, None],
        D=np.asarray(emission.inputs)[member] / noise[:, None],
        offset=np.asarray(emission.offset)[member] / noise,
    )
