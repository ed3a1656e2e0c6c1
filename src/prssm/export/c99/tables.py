"""The numbers of the generated C code, in the layout that its loops read."""

import numpy as np

from prssm.export.description import Description, Member
from prssm.export.draws import Draws
from prssm.export.filter_noise import LEAST_SENSOR_VAR
from prssm.export.reference import drawn_weights
from prssm.prediction.seen import Seen

LANES = 4  # inducing points that are computed with at once, and fill up whole lanes
# Squared distances are multiplied by these, so that exp(-q), or r = sqrt(q), is all that is left.
_FOLDED = {"squared-exponential": 0.5, "matern32": 3.0, "matern52": 5.0}
_LEAST_SENSOR_VAR = {"double": LEAST_SENSOR_VAR, "single": 1e-8}


def tables(description: Description, draws: Draws | None, precision: str) -> dict[str, np.ndarray]:
    """All tables by their names in the code."""
    found = _columns(description, draws) | _affine(description) | _first(description, draws)
    found |= _filter(description, precision)
    if description.neurons:
        found |= _neurons(description)
    if description.points:
        found |= _functions(description, draws)
    if draws is not None and description.seen is not None:
        found |= _seen(description.seen)
    kind = np.float32 if precision == "single" else np.float64
    return {name: np.asarray(array, np.float64).astype(kind) for name, array in found.items()}


def padded_points(description: Description) -> int:
    """Inducing points, filled up to whole lanes."""
    return -(-description.points // LANES) * LANES


def _each(description: Description, part: str) -> np.ndarray:
    return np.stack([getattr(member, part) for member in description.followed])


def _columns(description: Description, draws: Draws | None) -> dict[str, np.ndarray]:
    inputs = description.inputs
    outputs = description.outputs
    y_std = np.array([column.std for column in outputs])
    found = {
        "Y_MEAN": np.array([column.mean for column in outputs]),
        "Y_STD": y_std,
    }
    if draws is not None:
        found["BAND"] = description.band_factor * y_std
        found["NOISE_VAR"] = description.noise_var
    if inputs:
        found["U_MEAN"] = np.array([column.mean for column in inputs])
        found["U_STD"] = np.array([column.std for column in inputs])
    return found


def _seen(seen: Seen) -> dict[str, np.ndarray]:
    """What training has shown; data that never move leave no axes, and no inputs no limits."""
    found = {"SEEN_Y": seen.output_limits}
    if seen.input_range.shape[1]:
        found["SEEN_U"] = seen.input_limits
    if seen.axes.shape[1]:
        found["SEEN_POINTS"] = seen.points
        found["SEEN_CENTRE"] = seen.centre
        found["SEEN_AXES"] = seen.axes.T
    return found


def _affine(description: Description) -> dict[str, np.ndarray]:
    return {
        "A": _each(description, "mean_weight"),
        "B": _each(description, "mean_bias"),
        "C": _each(description, "emission_weight"),
        "OFFSET": _each(description, "emission_bias"),
    }


def _neurons(description: Description) -> dict[str, np.ndarray]:
    """Those of the prior mean."""
    return {
        "NEURON_OUT": _each(description, "neuron_out"),
        "NEURON_WEIGHT": _each(description, "neuron_weight"),
        "NEURON_BIAS": _each(description, "neuron_bias"),
    }


def _first(description: Description, draws: Draws | None) -> dict[str, np.ndarray]:
    """Where the state begins."""
    found = {
        "PRIOR_MEAN": _each(description, "prior_mean"),
        "PRIOR_FACTOR": _each(description, "prior_factor"),
    }
    if draws is not None:
        found["FIRST"] = np.concatenate([first.T for first in draws.first])
    every = [member.recognition for member in description.followed]
    nets = [net for net in every if net is not None]
    if not nets:
        return found
    found["DIRECT"] = np.stack([net.direct for net in nets])
    found["DIRECT_BIAS"] = np.stack([net.direct_bias for net in nets])
    factors = [net.factor for net in nets if net.factor is not None]
    if factors:
        return found | {"START_FACTOR": np.stack(factors)}
    return found | {
        "HIDDEN_WEIGHT": np.stack([net.hidden_weight for net in nets]),
        "HIDDEN_BIAS": np.stack([net.hidden_bias for net in nets]),
        "FIRST_WEIGHT": np.stack([net.mean_weight for net in nets]),
        "LOG_STD_WEIGHT": np.stack([net.log_std_weight for net in nets]),
        "LOG_STD_BIAS": np.stack([net.log_std_bias for net in nets]),
    }


def _filter(description: Description, precision: str) -> dict[str, np.ndarray]:
    noises = [member.filter for member in description.followed]
    least = _LEAST_SENSOR_VAR[precision]
    found = {
        "HEARD": description.first_weight,
        "FILTER_PROCESS": np.stack([noise.process for noise in noises]),
        "SENSOR_VAR": np.stack([np.maximum(noise.sensor_var, least) for noise in noises]),
    }
    if description.colour_states:
        found["COLOUR_STEP"] = np.stack([noise.colour_step for noise in noises])
        found["COLOUR_NOISE"] = np.stack([noise.colour_noise for noise in noises])
        found["COLOUR_FIRST"] = np.stack([noise.colour_first for noise in noises])
    return found


def _functions(description: Description, draws: Draws | None) -> dict[str, np.ndarray]:
    """The Gaussian processes.

    The signal's variance is in all that is multiplied by a correlation.
    """
    members = description.followed
    inverse = np.sqrt(_FOLDED[description.kernel]) / _each(description, "lengthscale")
    zeta = _each(description, "zeta") * inverse[:, :, None]
    variance = _each(description, "signal_var")
    white = _each(description, "white") * variance[:, :, None, None]
    alpha = np.stack([_scaled(member, member.alpha) for member in members])
    found = {
        "ZETA": _padded(np.swapaxes(zeta, 2, 3), (3,)),
        "INVERSE_LENGTH": inverse,
        "SIGNAL_VAR": variance,
        "WHITE": _padded(np.swapaxes(white, 2, 3), (2, 3)),  # column by column
        "FACTOR": _padded(_each(description, "v_factor"), (2, 3)),
        "ALPHA": _padded(alpha, (2,)),
    }
    if draws is not None:
        found["PROCESS_VAR"] = _each(description, "process_std") ** 2
    if draws is not None and draws.function is not None:
        drawn = [
            np.moveaxis(_scaled(member, drawn_weights(member, draws, index)), 2, 0)
            for index, member in enumerate(description.members)
        ]
        found["WEIGHT"] = _padded(np.concatenate(drawn), (2,))
    return found


def _scaled(member: Member, weights: np.ndarray) -> np.ndarray:
    """Weights (Dx, P, ...) of correlations instead of covariances."""
    return weights * member.signal_var.reshape(-1, *[1] * (weights.ndim - 1))


def _padded(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """With zeros behind the inducing points, so that they fill whole lanes."""
    widths = [(0, -size % LANES if axis in axes else 0) for axis, size in enumerate(array.shape)]
    return np.pad(array, widths)
