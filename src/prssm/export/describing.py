"""The description of a fitted model: `describe(model)`.

A method that is to be exported gets a function here and a line in `_WAYS`.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from scipy.linalg import solve_triangular

from prssm.dynamics.transition import LinearMean, NetworkMean
from prssm.export.description import Column, Description, FilterNoise, Member, Recognition
from prssm.export.filter_noise import filter_noises
from prssm.export.linear_member import linear_member
from prssm.export.names import identifiers
from prssm.export.profiles import PROFILES
from prssm.foundation.errors import OptionError
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS
from prssm.gp.linalg import JITTER
from prssm.gp.sparse import DiagonalInducing, WhitenedInducing
from prssm.models.estimator import Estimator
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.emission import LinearEmission
from prssm.models.prssm.estimator import PRSSM
from prssm.models.prssm.filtering.members import FilterMembers
from prssm.models.prssm.mixture import Mixture

# What targets put behind the identifiers of columns.
SUFFIXES = ("", "_std", "_mean", "_measured")
# Words that targets use themselves.
_TAKEN = (
    *("time", "state", "states", "step", "step_size", "far"),
    *("u", "y", "x", "std", "mean", "eps", "n"),
)


def describe(model: Any) -> Description:
    """All that a step of a fitted PRSSM or LinearSSM needs, as plain arrays."""
    for kind, way in _WAYS.items():
        if isinstance(model, kind):
            model._check_fitted()
            model.preprocessing_.check_row_by_row("export")
            return way(model)
    name = getattr(model, "name", type(model).__name__)
    raise OptionError(
        f"export: expected a model of prssm or linear, got {name}, whose state is not a fixed "
        "vector of numbers; fit PRSSM or LinearSSM to the same data"
    )


def filter_members(mixture: Mixture, filtered: FilterMembers, inputs: int) -> tuple[Member, ...]:
    """All members of a model's filters as plain arrays; those of free runs are the first."""
    whole = filtered.followed(mixture.models)
    models = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), whole.models)
    process_std = np.exp(models.transition.log_process_std)
    noises = filter_noises(
        np.exp(models.log_output_std),
        models.correlation_of(np),
        process=process_std[:, :, None] ** 2 * np.eye(process_std.shape[1]),
        moved=whole.shape,
        factors=whole.noises,
    )
    with double_precision():
        return tuple(
            _member(
                jax.tree.map(lambda leaf, at=at: leaf[at], models),
                mixture.window,
                inputs,
                noise=noise,
            )
            for at, noise in enumerate(noises)
        )


def kernel_name(kernel: Any) -> str:
    """Its word in the options; any other is refused."""
    for name in PROFILES:
        factory = KERNELS[name]
        if type(kernel) is getattr(factory, "__self__", None):
            return name
    raise OptionError(
        f"export: expected one of the kernels {', '.join(PROFILES)}, got "
        f"{type(kernel).__name__}, which is known to Python alone; train with one of them"
    )


def _of_prssm(model: PRSSM) -> Description:
    gp = model.mixture_.models.transition.gp
    inputs, outputs = _columns_of(model)
    members = filter_members(model.mixture_, model.filter_, len(inputs))
    count = len(model.mixture_.models.log_output_std)
    return Description(
        method=model.name,
        kernel=kernel_name(gp.kernel),
        draws=model.mixture_.draws,
        members=members[:count],
        beside=members[count:],
        heard=model.filter_.every_heard,
        inputs=inputs,
        outputs=outputs,
        band_factor=model.calibration_.factor,
        window=model.mixture_.window,
        stride=model.stride_,
        dt=model.dt_,
        seen=model.seen_by_band,
    )


def _of_linear(model: LinearSSM) -> Description:
    inputs, outputs = _columns_of(model)
    return Description(
        method=model.name,
        kernel="squared-exponential",
        draws="trajectory",
        members=(linear_member(model),),
        inputs=inputs,
        outputs=outputs,
        band_factor=np.ones(len(outputs)),
        window=model.window_,
        stride=model.stride_,
        dt=model.dt_,
    )


_WAYS: dict[type[Estimator], Callable[[Any], Description]] = {
    PRSSM: _of_prssm,
    LinearSSM: _of_linear,
}


def _columns_of(model: Estimator) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Inputs and outputs with identifiers that all differ from each other."""
    scaler = model.scaler_
    names = (*model.input_names_, *model.output_names_)
    words = identifiers(names, taken=_TAKEN, suffixes=SUFFIXES)
    means = (*scaler.u_mean, *scaler.y_mean)
    stds = (*scaler.u_std, *scaler.y_std)
    units = model.domain_.units
    both = tuple(
        Column(name, word, float(mean), float(std), unit=units.get(name, ""))
        for name, word, mean, std in zip(names, words, means, stds, strict=True)
    )
    count = len(model.input_names_)
    return both[:count], both[count:]


def _member(model: Any, window: int, inputs: int, *, noise: FilterNoise) -> Member:
    """One `StateSpaceModel` whose leaves are NumPy arrays."""
    gp = model.transition.gp
    states = len(model.transition.log_process_std)
    mean = _affine(model.transition.mean, states, inputs, what="prior mean")
    emission = _affine(model.emission, states, inputs, what="emission")
    lengthscale = np.exp(gp.kernel.log_lengthscale)
    signal_var = np.exp(2.0 * gp.kernel.log_std)
    profile = PROFILES[kernel_name(gp.kernel)]
    white = np.stack(
        [
            _whitener(variance * profile(_squares(zeta, zeta.T, scale)))
            for zeta, scale, variance in zip(gp.zeta, lengthscale, signal_var, strict=True)
        ]
    )
    each = np.broadcast_to(white, (states, *white.shape[1:]))
    whitened = [
        _whitened(jax.tree.map(lambda leaf, at=at: leaf[at], gp.inducing), each[at])
        for at in range(states)
    ]
    return Member(
        zeta=gp.zeta,
        lengthscale=lengthscale,
        signal_var=signal_var,
        white=white,
        v_mean=np.stack([np.asarray(v) for v, _ in whitened]),
        v_factor=np.stack([np.asarray(factor) for _, factor in whitened]),
        mean_weight=mean[0],
        mean_bias=mean[1],
        **_neurons(model.transition.mean, states, inputs),
        process_std=np.exp(model.transition.log_process_std),
        emission_weight=emission[0],
        emission_bias=emission[1],
        output_std=np.exp(model.log_output_std),
        output_correlation=model.correlation_of(np),
        prior_mean=np.zeros(states),
        prior_factor=np.eye(states),
        recognition=_recognition(model.recognition, states) if window else None,
        filter=noise,
    )


def _whitened(inducing: Any, white: np.ndarray) -> tuple[Any, Any]:
    """As `Inducing.whitened`, in NumPy where the kind is known: nothing is compiled."""
    if isinstance(inducing, DiagonalInducing):
        return white @ inducing.mean, white * np.exp(inducing.log_std)
    if isinstance(inducing, WhitenedInducing):
        diagonal = np.diag(np.exp(np.diag(inducing.factor)))
        return inducing.mean, np.tril(inducing.factor, -1) + diagonal
    return inducing.whitened(white)


def _recognition(net: Any, states: int) -> Recognition:
    size = net.hidden_weight.shape[1]
    direct = np.zeros((states, size)) if net.direct is None else np.array(net.direct)
    # The first outputs lead the sample: states that the sensors show start there.
    direct[: net.shown, : net.shown] += np.eye(net.shown)
    bias = np.zeros(states) if net.direct_bias is None else net.direct_bias
    return Recognition(
        hidden_weight=net.hidden_weight,
        hidden_bias=net.hidden_bias,
        mean_weight=net.mean_weight,
        direct=direct,
        direct_bias=np.asarray(bias),
        log_std_weight=net.log_std_weight,
        log_std_bias=net.log_std_bias,
    )


def _neurons(mean: Any, states: int, inputs: int) -> dict[str, np.ndarray]:
    """The neurons of a prior mean as a member has them; empty arrays where there are none."""
    if isinstance(mean, NetworkMean):
        return {
            "neuron_out": np.asarray(mean.neuron_out),
            "neuron_weight": np.asarray(mean.neuron_weight),
            "neuron_bias": np.asarray(mean.neuron_bias),
        }
    return {
        "neuron_out": np.zeros((states, 0)),
        "neuron_weight": np.zeros((0, states + inputs)),
        "neuron_bias": np.zeros(0),
    }


def _affine(part: Any, states: int, inputs: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and offset of a prior mean or an emission, in NumPy where it has both as they are.

    Neurons of a prior mean come beside them.
    """
    if isinstance(part, LinearMean | NetworkMean):
        return np.asarray(part.weight), np.asarray(part.bias)
    if isinstance(part, LinearEmission):
        seen = np.concatenate([np.asarray(part.states), np.asarray(part.inputs)], axis=1)
        return seen, np.asarray(part.offset)
    found = part.affine(states, inputs)
    if found is None:
        raise OptionError(
            f"export: expected a linear {what}, got {type(part).__name__}, a function that is "
            f"known to Python alone; train with one of the named ones"
        )
    weight, bias = found
    return np.asarray(weight, np.float64), np.asarray(bias, np.float64)


def _squares(a: np.ndarray, b: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Squared scaled distances between points (P, Din) and (Din, B)."""
    apart = (a[:, :, None] - b) / scale[:, None]
    return np.sum(apart**2, axis=1)


def _whitener(covariance: np.ndarray) -> np.ndarray:
    """As in `gp/linalg.py`, in NumPy: nothing is compiled."""
    size = len(covariance)
    factor = np.linalg.cholesky(covariance + JITTER * np.mean(np.diag(covariance)) * np.eye(size))
    return solve_triangular(factor, np.eye(size), lower=True)
