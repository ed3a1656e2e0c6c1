"""What a fitted model is, as plain NumPy arrays: all that a target needs to write it down.

`describe(model)` in `describing.py` makes one, `reference.py` runs one, and each target writes one
in its language. All arrays are in scaled units but for the scaler's. M members, S trajectories,
K kernels (one, or one for each state), P inducing points (none for a linear model), N neurons of
the prior mean (often none), L rows of the window; the other letters are those of
docs/explanation/theory.md.

One step of a member, with xu = (x, u), k = k(zeta, xu), a = W k:

    x' = A xu + b + O tanh(G xu + g) + f + sqrt(variance) eps,    y = C xu + c
    f = alpha'k,         variance = max(s^2 - a'a, 0) + |V'a|^2 + process_std^2    (draws: "step")
    f = (W'v)'k,         variance = max(s^2 - a'a, 0) + process_std^2        (draws: "trajectory")

with alpha = W'm, and v = m + V noise drawn once for a trajectory. The mean alone is the first line
with eps = 0. The output has mean and variance of y over all trajectories of all members, plus the
mean of output_std^2 over the members; the deviation is then multiplied by `band_factor`.

Outside of what was `seen` the band is wider, by 1 + WIDER far (`prediction/widening.py`), where far
is the distance of the step, MOST at most, and not below FADES times that of the step before. The
distance is the largest of three: of the point (mean state of the first member's trajectories, u) to
the nearest of the cloud's, beyond its limit; of the mean output, and of u, to their limits.
"""

from dataclasses import dataclass, fields

import numpy as np

from prssm.prediction.seen import Seen


class _Frozen:
    """Arrays of a description cannot be written."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                kept = np.array(value, np.float64)
                kept.setflags(write=False)
                object.__setattr__(self, field.name, kept)


@dataclass(frozen=True, eq=False)
class Recognition(_Frozen):
    """The first state from the first L samples s = (y_1 .. y_L, u_1 .. u_L), row by row.

    h = tanh(hidden_weight s + hidden_bias); mean = mean_weight h + direct s + direct_bias. The
    spread is diag(exp(log_std_weight h + log_std_bias)), or `factor` where that is given.
    """

    hidden_weight: np.ndarray  # (H, L (Dy + Du)); H may be 0
    hidden_bias: np.ndarray  # (H,)
    mean_weight: np.ndarray  # (Dx, H)
    direct: np.ndarray  # (Dx, L (Dy + Du))
    direct_bias: np.ndarray  # (Dx,)
    log_std_weight: np.ndarray  # (Dx, H)
    log_std_bias: np.ndarray  # (Dx,)
    factor: np.ndarray | None = None  # (Dx, Dx)


@dataclass(frozen=True, eq=False)
class FilterNoise(_Frozen):
    """The noises with which a member is filtered; a free run has its own.

    x' = f(x, u) + w and y = C xu + c + d + e with white w and e. The coloured noise d is the first
    Dy of the states c' = colour_step c + white noise; there may be none (n = 0).
    """

    process: np.ndarray  # (Dx, Dx) covariance of w beside what the GP does not know
    sensor_var: np.ndarray  # (Dy,) of e
    colour_step: np.ndarray  # (n, n)
    colour_noise: np.ndarray  # (n, n) covariance that a step adds
    colour_first: np.ndarray  # (n, n) covariance at the start


@dataclass(frozen=True, eq=False)
class Member(_Frozen):
    """One state-space model of the mixture."""

    zeta: np.ndarray  # (K, P, Din) inducing inputs
    lengthscale: np.ndarray  # (K, Din)
    signal_var: np.ndarray  # (K,) s^2
    white: np.ndarray  # (K, P, P) W, lower triangular
    v_mean: np.ndarray  # (Dx, P) m
    v_factor: np.ndarray  # (Dx, P, P) V
    mean_weight: np.ndarray  # (Dx, Din) A
    mean_bias: np.ndarray  # (Dx,) b
    neuron_out: np.ndarray  # (Dx, N) O; N is the same for all members
    neuron_weight: np.ndarray  # (N, Din) G
    neuron_bias: np.ndarray  # (N,) g
    process_std: np.ndarray  # (Dx,)
    emission_weight: np.ndarray  # (Dy, Din) C
    emission_bias: np.ndarray  # (Dy,) c
    output_std: np.ndarray  # (Dy,)
    output_correlation: np.ndarray  # (Dy,) of the sensor noise, from a step to the next
    prior_mean: np.ndarray  # (Dx,) of the first state where nothing was measured
    prior_factor: np.ndarray  # (Dx, Dx)
    recognition: Recognition | None
    filter: FilterNoise

    @property
    def alpha(self) -> np.ndarray:
        """(Dx, P): K^-1 times the means of the inducing outputs, so that f = alpha'k."""
        return self.weights(self.v_mean[..., None])[..., 0]

    def weights(self, v: np.ndarray) -> np.ndarray:
        """W'v for white inducing outputs (Dx, P, S)."""
        white = np.broadcast_to(self.white, (len(self.process_std), *self.white.shape[1:]))
        return np.einsum("dqp,dqs->dps", white, v)


@dataclass(frozen=True, eq=False)
class Column:
    """An input or an output: its name, an identifier for it, and physical = mean + std scaled.

    The unit is that of the training data, as it was written there; empty where none was.
    """

    name: str
    identifier: str
    mean: float
    std: float
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Description(_Frozen):
    """A mixture of members of equal weight, in numbers and words.

    Filters follow those beside them too, and only some have a weight there: `heard` says of each
    which; all where it is empty.
    """

    method: str
    kernel: str  # squared-exponential, matern32, matern52
    draws: str  # "step" or "trajectory"; see above
    members: tuple[Member, ...]
    inputs: tuple[Column, ...]
    outputs: tuple[Column, ...]
    band_factor: np.ndarray  # (Dy,) of the calibrated band
    window: int  # L, steps from which the first state is recognised; 0: none
    stride: int  # rows of a recording that one step takes; inputs are their mean
    dt: float | None  # seconds between rows, where known
    beside: tuple[Member, ...] = ()
    heard: tuple[bool, ...] = ()
    seen: Seen | None = None  # what training has shown, where the band knows it

    @property
    def followed(self) -> tuple[Member, ...]:
        """The members of a filter; those of free runs are the first."""
        return (*self.members, *self.beside)

    @property
    def first_weight(self) -> np.ndarray:
        """(members of a filter,) their weights before anything was measured; 0: never any."""
        heard = np.array(self.heard or [True] * len(self.followed))
        return heard / heard.sum()

    @property
    def states(self) -> int:
        return len(self.members[0].process_std)

    @property
    def points(self) -> int:
        return self.members[0].zeta.shape[1]

    @property
    def neurons(self) -> int:
        """How many the prior mean has beside its linear part."""
        return len(self.members[0].neuron_bias)

    @property
    def colour_states(self) -> int:
        """How many states of a filter are the sensors' coloured noise."""
        return len(self.members[0].filter.colour_step)

    @property
    def weight(self) -> float:
        """Of each member in the mixture."""
        return 1.0 / len(self.members)

    @property
    def step_size(self) -> float:
        """Seconds of a step; 1 where the sampling time is not known."""
        return self.stride * (self.dt or 1.0)

    @property
    def noise_var(self) -> np.ndarray:
        """(Dy,) variance of the sensors' noise, scaled."""
        return np.mean([member.output_std**2 for member in self.members], axis=0)

    def scaled_inputs(self, u: np.ndarray) -> np.ndarray:
        """(..., Du) from physical units."""
        return (u - _of(self.inputs, "mean")) / _of(self.inputs, "std")

    def scaled_outputs(self, y: np.ndarray) -> np.ndarray:
        """(..., Dy) from physical units."""
        return (y - _of(self.outputs, "mean")) / _of(self.outputs, "std")

    def physical_outputs(self, y: np.ndarray) -> np.ndarray:
        """(..., Dy) in physical units."""
        return _of(self.outputs, "mean") + y * _of(self.outputs, "std")

    def physical_spreads(self, std: np.ndarray) -> np.ndarray:
        """Deviations (..., Dy) in physical units, as wide as the calibrated band."""
        return std * self.band_factor * _of(self.outputs, "std")


def _of(columns: tuple[Column, ...], part: str) -> np.ndarray:
    return np.array([getattr(column, part) for column in columns], np.float64)
